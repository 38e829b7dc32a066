// One example: references and candidates of every system, with the words that occur in the references marked.
const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu;
const LONG = 600;

function wordsOf(texts) {
  const words = new Set();
  for (const text of texts) for (const [word] of text.matchAll(WORD)) words.add(word.toLowerCase());
  return words;
}

/** Return the words that occur in the references of more than a quarter of the examples, such as articles. */
function commonWords(references) {
  const counts = new Map();
  for (const texts of references) for (const word of wordsOf(texts)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const enough = references.length >= 8;
  return new Set([...counts].filter(([, count]) => enough && count > references.length / 4).map(([word]) => word));
}

/** Return nodes of a text in which runs of known words and the terms of a search are marked. */
function markedText(text, known, terms) {
  let marks = [];
  let run = null;
  for (const match of known ? text.matchAll(WORD) : []) {
    if (!known.has(match[0].toLowerCase())) {
      run = null;
      continue;
    }
    const end = match.index + match[0].length;
    if (run && /^\s*$/.test(text.slice(run.end, match.index))) run.end = end;
    else marks.push((run = { start: match.index, end, name: "match", rare: false }));
    run.rare ||= !known.frequent?.has(match[0].toLowerCase());
  }
  marks = marks.filter((mark) => mark.rare);
  const lower = text.toLowerCase();
  if (lower.length === text.length) {
    for (const term of terms) {
      for (let at = lower.indexOf(term); at >= 0 && term; at = lower.indexOf(term, at + term.length)) {
        marks.push({ start: at, end: at + term.length, name: "found" });
      }
    }
  }
  return nodesOf(text, marks);
}

function nodesOf(text, marks) {
  const cuts = [...new Set([0, text.length, ...marks.flatMap((mark) => [mark.start, mark.end])])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((start, k) => {
    const end = cuts[k + 1];
    const names = new Set(marks.filter((mark) => mark.start <= start && mark.end >= end).map((mark) => mark.name));
    const part = text.slice(start, end);
    return names.size ? element("mark", { class: [...names].join(" ") }, part) : part;
  });
}

function textList(texts, known, terms, roles = []) {
  const counts = new Map();
  texts.forEach((text, k) => {
    const entry = counts.get(text) ?? { times: 0, roles: [] };
    entry.times += 1;
    entry.roles.push(...(roles[k] ?? []));
    counts.set(text, entry);
  });
  return element("ul", { class: "texts" }, [...counts].map(([text, entry]) => textItem(text, entry, known, terms)));
}

function textItem(text, { times, roles }, known, terms) {
  const short = text.length > LONG ? text.slice(0, LONG) : text;
  const body = element("span", { dir: "auto" }, markedText(short, known, terms));
  const item = element("li", {}, text ? body : element("span", { class: "soft" }, "(empty)"));
  for (const role of new Set(roles)) item.append(" ", element("span", { class: "role" }, role));
  if (times > 1) item.append(element("span", { class: "soft" }, ` × ${times}`));
  if (short !== text) {
    const more = element("button", { type: "button" }, `… all ${text.length.toLocaleString("en")} characters`);
    more.addEventListener("click", () => {
      body.replaceChildren(...markedText(text, known, terms));
      more.remove();
    });
    item.append(" ", more);
  }
  return item;
}

/** Return the nodes of one example. */
function detailNodes(browser, example, texts, scores, explanations) {
  const { index } = browser;
  const terms = browser.terms;
  const common = texts.references;
  const nodes = [detailHead(browser, example)];
  if (browser.images?.[index.ids[example]]) {
    nodes.push(element("img", { class: "picture", src: browser.images[index.ids[example]], alt: `Image of example ${index.ids[example]}` }));
  }
  const link = browser.links?.[index.ids[example]];
  if (link) nodes.push(element("p", {}, element("a", { href: link, target: "_blank", rel: "noreferrer" }, "Image file")));
  nodes.push(element("section", { class: "references" }, element("h4", {}, `References (${common.length})`), textList(common, null, terms)));
  for (const system of browser.systemOrder()) {
    const own = texts.systems[system];
    if (own) nodes.push(systemCard(browser, system, own, common, scores, explanations?.[system] ?? []));
  }
  return nodes;
}

function detailHead(browser, example) {
  const place = browser.visible.indexOf(example);
  const button = (label, step, key) =>
    element("button", { type: "button", title: key, disabled: place + step < 0 || place + step >= browser.visible.length, onclick: () => browser.move(step) }, label);
  const position = place < 0 ? "not in the list" : `${(place + 1).toLocaleString("en")} of ${browser.visible.length.toLocaleString("en")}`;
  return element(
    "header", {}, element("h3", { class: "example-id", dir: "auto" }, browser.index.ids[example]), element("span", { class: "soft" }, position),
    button("↑ Previous", -1, "k"), button("↓ Next", 1, "j"),
  );
}

function systemCard(browser, system, own, common, scores, explained) {
  const entry = browser.index.systems[system];
  const references = own.references ?? common;
  const known = browser.marksWords ? wordsOf(references) : null;
  if (known) known.frequent = browser.frequent;
  const chips = scores
    .filter((row) => !Number.isNaN(row.scores[system]))
    .map((row) => {
      const p = row.p && !Number.isNaN(row.p[system]) ? ` · p ${numberText(row.p[system])}` : "";
      const active = row.name === browser.sortedMetric();
      return element("span", { class: active ? "chip active" : "chip" }, element("span", { class: "name" }, row.name), ` ${numberText(row.scores[system])}${p}`);
    });
  const card = element(
    "section", { class: "system" },
    element("h4", { dir: "auto" }, entry.run ? `${entry.label} (${entry.run})` : entry.label),
    chips.length ? element("p", { class: "chips" }, chips) : null,
    textList(own.candidates, known, browser.terms),
  );
  if (own.references) {
    card.append(element("details", {}, element("summary", {}, `Compared with ${references.length} references of its own`), textList(references, null, browser.terms)));
  }
  for (const part of explained) card.append(explanationNode(part, own.candidates, references));
  return card;
}

/** Return the node of an explanation: a title, and texts with their roles. */
function explanationNode(part, candidates, references) {
  const texts = [...candidates, ...references];
  const rows = part.texts.map(([place, role]) =>
    element("li", {}, element("span", { class: "role" }, role), " ", element("span", { dir: "auto" }, texts[place]), element("span", { class: "soft" }, place < candidates.length ? " candidate" : " reference")),
  );
  return element("div", { class: "explanation" }, element("p", {}, part.title), element("ul", { class: "texts" }, rows));
}
