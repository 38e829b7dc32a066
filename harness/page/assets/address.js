// The address of the page: tab, group and example, and the state of every view behind a question mark.
//
//     #examples/g0/391895?sort=score:a-b:desc:cider&filter=cider+%3C+.3&a=init&b=merge&theme=dark
//
// Views read their state when they start and write it when it changes; another address in the same window loads the page again.
const listeners = { tab: [], theme: [] };
const address = parseAddress(location.hash);
let addressTimer = 0;

function parseAddress(text) {
  const [path, query = ""] = text.slice(1).split(/\?(.*)/s);
  const [tab, group = "", example] = path.split("/");
  return { tab, group, example: example === undefined ? undefined : decoded(example), values: new URLSearchParams(query) };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Return the text of an address; default: that of the page. */
function addressText({ tab, group, example, values } = address) {
  const place = tab === "examples" && example !== undefined ? `/${group}/${encodeURIComponent(example)}` : "";
  const query = values.toString();
  return `#${tab || "overview"}${place}${query ? `?${query}` : ""}`;
}

/** Write the address, at most five times a second: browsers refuse more. */
function writeAddress() {
  addressTimer ||= setTimeout(() => {
    addressTimer = 0;
    history.replaceState(null, "", addressText());
  }, 200);
}

/** Access to the state of the views of one group: the names of the first group stand alone, the others behind the name of theirs. */
class GroupState {
  constructor(group) {
    this.prefix = group === "g0" ? "" : `${group}.`;
  }

  read(name, otherwise = "") {
    return address.values.get(this.prefix + name) ?? otherwise;
  }

  /** Write values; empty ones leave the address. */
  write(values) {
    for (const [name, value] of Object.entries(values)) {
      if (value) address.values.set(this.prefix + name, value);
      else address.values.delete(this.prefix + name);
    }
    writeAddress();
  }
}

// ---------------------------------------------------------------- tabs
function showTab(name) {
  const target = document.getElementById(name);
  if (!target || !target.classList.contains("tab")) return showTab("overview");
  address.tab = name;
  for (const section of all("section.tab")) section.classList.toggle("current", section === target);
  for (const link of all(".tabs a")) {
    if (link.getAttribute("href") === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  hideHint();
  for (const listener of listeners.tab) listener(name);
}

function startTabs() {
  for (const link of all(".tabs a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      showTab(link.getAttribute("href").slice(1));
      writeAddress();
      scrollTo(0, 0);
    });
  }
  addEventListener("hashchange", () => {
    if (location.hash !== addressText()) location.reload();
  });
  showTab(address.tab || "overview");
}

// ---------------------------------------------------------------- theme
const THEMES = ["system", "light", "dark"];

function currentTheme() {
  if (root.dataset.theme) return root.dataset.theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function setTheme(name) {
  if (name === "system") delete root.dataset.theme;
  else root.dataset.theme = name;
  document.querySelector(".theme").textContent = `Theme: ${name}`;
  for (const listener of listeners.theme) listener(currentTheme());
}

function startTheme() {
  const state = new GroupState("g0");
  let place = Math.max(0, THEMES.indexOf(state.read("theme")));
  if (place) setTheme(THEMES[place]);
  document.querySelector(".theme").addEventListener("click", () => {
    place = (place + 1) % THEMES.length;
    setTheme(THEMES[place]);
    state.write({ theme: place ? THEMES[place] : "" });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const listener of listeners.theme) listener(currentTheme());
  });
}

// ---------------------------------------------------------------- copy of the address
function startCopyLink() {
  const button = document.querySelector(".copy-link");
  button.addEventListener("click", async () => {
    history.replaceState(null, "", addressText());
    const done = await copied(location.href);
    showHint(done ? "The address of this view is copied." : `Copy the address of this view by hand: ${location.href}`);
  });
}
