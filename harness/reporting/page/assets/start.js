// Elements, tabs, colours, hints and downloads.
const root = document.documentElement;
const all = (selector, parent = document) => [...parent.querySelectorAll(selector)];

/** Return a new element; texts become text nodes, so that captions can hold no markup. */
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Return a number as the tables of the harness print it: four significant digits, at least three decimals below 10. */
function numberText(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2).replace(/e([+-])(\d)$/, "e$10$2");
  return size < 10 ? value.toFixed(4) : value.toFixed(2);
}

// ---------------------------------------------------------------- tabs
const listeners = { tab: [], theme: [] };

function showTab(name) {
  const target = document.getElementById(name);
  if (!target || !target.classList.contains("tab")) return;
  for (const section of all("section.tab")) section.classList.toggle("current", section === target);
  for (const link of all(".tabs a")) {
    if (link.getAttribute("href") === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  hideHint();
  for (const listener of listeners.tab) listener(name);
}

function startTabs() {
  const follow = () => {
    const [name] = location.hash.slice(1).split("/");
    showTab(name || "overview");
  };
  for (const link of all(".tabs a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", link.getAttribute("href"));
      follow();
      scrollTo(0, 0);
    });
  }
  addEventListener("hashchange", follow);
  follow();
}

// ---------------------------------------------------------------- colours
const THEMES = ["system", "light", "dark"];

function currentTheme() {
  if (root.dataset.theme) return root.dataset.theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function startTheme() {
  const button = document.querySelector(".theme");
  let place = 0;
  button.addEventListener("click", () => {
    place = (place + 1) % THEMES.length;
    if (place === 0) delete root.dataset.theme;
    else root.dataset.theme = THEMES[place];
    button.textContent = `Theme: ${THEMES[place]}`;
    for (const listener of listeners.theme) listener(currentTheme());
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const listener of listeners.theme) listener(currentTheme());
  });
}

// ---------------------------------------------------------------- hints
function showHint(text) {
  const hint = document.querySelector(".hint");
  hint.textContent = text;
  hint.hidden = false;
}

function hideHint() {
  document.querySelector(".hint").hidden = true;
}

// ---------------------------------------------------------------- downloads and copies
function download(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = element("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function startButtons() {
  for (const button of all(".download")) {
    button.addEventListener("click", async () => download(button.dataset.file, await blockBytes(button.dataset.download), "text/csv"));
  }
  for (const button of all(".copy")) {
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("code").textContent;
      button.textContent = (await copied(text)) ? "Copied" : "Select and copy by hand";
    });
  }
  const licences = document.querySelector(".licences");
  licences.addEventListener("click", async () => {
    const target = document.querySelector(".licences-text");
    target.textContent = await blockText("licences");
    target.hidden = false;
    licences.hidden = true;
  });
}

/** Copy a text; false where the browser does not allow it for files. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
