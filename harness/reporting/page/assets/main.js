// Start of the page.
startTheme();
for (const group of all("#overview .group")) startMatrix(group);
startButtons();
startCharts();
startExamples();
startTabs();
root.classList.add("ready");
