// Keys: / searches, j and k go through the examples, Esc leaves a field and closes what lies above the page.
function startKeys() {
  document.addEventListener("keydown", async (event) => {
    if (event.key === "Escape") return leave(event);
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
    if (event.key === "/") return search(event);
    const [browser] = await Promise.all(document.getElementById("examples")?.classList.contains("current") ? [...browsers.values()].slice(0, 1) : []);
    if (browser && ["j", "k"].includes(event.key)) browser.move(event.key === "j" ? 1 : -1);
  });
}

/** Leave the field, and keep its text; without a field, close the example over the list of a narrow window. */
async function leave(event) {
  const field = event.target.closest("input, select, textarea");
  hideHint();
  if (field) {
    event.preventDefault(); // the browser would empty a search
    field.blur();
  } else for (const browser of await Promise.all(browsers.values())) browser.close();
}

function search(event) {
  const field = document.querySelector("section.tab.current input[type='search']");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
}
