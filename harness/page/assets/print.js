// Printing: the page has its charts and its example before the dialog of the browser opens.
function startPrint() {
  document.querySelector(".print").addEventListener("click", printPage);
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "p") return;
    event.preventDefault();
    printPage();
  });
}

/** Wait for charts and pairs, then print. The menu of the browser does not wait: charts that are not drawn stay out of its paper. */
async function printPage() {
  showHint("Drawing the charts for the paper …");
  await Promise.all([drawCharts(), ...pairViews.values()]);
  hideHint();
  print();
}
