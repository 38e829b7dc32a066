// Start of the page.
startTheme();
for (const group of all("#overview .group")) startMatrix(group);
startButtons();
startCopyLink();
startCharts();
startExamples();
startPairs();
startEvents();
startKeys();
startPrint();
startTabs();
root.classList.add("ready");
