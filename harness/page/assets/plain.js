// Start of a page that has one verdict and its tables: its colours.
address.tab = "content";
startTheme();
root.classList.add("ready");
