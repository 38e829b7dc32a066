// Elements, numbers, hints and downloads.
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

/** Return a score of one example: four decimals, for a BLEU of 1e-12 says nothing more than 0. */
function scoreText(value) {
  return Math.abs(value) < 1e-3 ? value.toFixed(4).replace(/^-(0\.0*)$/, "$1") : numberText(value);
}

function signedText(value) {
  const text = scoreText(value);
  return value > 0 && Number(text) ? `+${text}` : text.replace("-", "−");
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
