// One example: picture and references, the pair of systems side by side with their differing words, and the other systems below.
const FEW_OTHERS = 3; // other systems up to which they are shown at once

/** Return the nodes of one example. */
async function detailNodes(browser, example, texts, scores) {
  const { index, examples } = browser;
  const id = index.ids[example];
  const look = { ...browser.marks, terms: browser.terms };
  const explained = browser.explained[id] ?? {};
  const references = element(
    "section", { class: "references" },
    element("h4", {}, `References (${texts.references.length})`), textList(texts.references, await examples.referenceMarking(texts, look)),
  );
  const picture = pictureNode(browser.images[id], browser.links[id], `Image of example ${id}`);
  const card = async (system) => systemCard(browser, system, texts.systems[system], texts.references, { scores, explained: explained[system] ?? [], marking: await examples.marking(system, texts, look) });
  const pair = [examples.a, examples.b].filter((system) => system >= 0 && texts.systems[system]);
  const others = Array.from(examples.labels.keys()).filter((system) => texts.systems[system] && system !== examples.a && system !== examples.b);
  const nodes = [detailHead(browser, example), element("div", { class: picture ? "given with-picture" : "given" }, picture, references)];
  nodes.push(element("div", { class: "side-by-side" }, await Promise.all(pair.map(card))));
  if (pair.length === 2 && scores.length) nodes.push(scoreTable(browser, scores));
  if (others.length) {
    const open = browser.othersOpen ?? others.length <= FEW_OTHERS;
    const details = element("details", { class: "others", open }, element("summary", {}, `Other systems (${others.length})`), await Promise.all(others.map(card)));
    details.addEventListener("toggle", () => (browser.othersOpen = details.open));
    nodes.push(details);
  }
  return nodes;
}

function detailHead(browser, example) {
  const place = browser.visible.indexOf(example);
  const button = (label, step, key) =>
    element("button", { type: "button", title: key, disabled: place + step < 0 || place + step >= browser.visible.length, onclick: () => browser.move(step) }, label);
  const position = place < 0 ? "not in the list" : `${(place + 1).toLocaleString("en")} of ${browser.visible.length.toLocaleString("en")}`;
  return element(
    "header", {},
    element("button", { type: "button", class: "close", title: "Esc", onclick: () => browser.close() }, "← List"),
    element("h3", { class: "example-id", dir: "auto" }, browser.index.ids[example]), element("span", { class: "soft" }, position),
    element("span", { class: "steps" }, button("↑ Previous", -1, "k"), button("↓ Next", 1, "j")),
  );
}

function systemCard(browser, system, own, common, { scores, explained, marking }) {
  const { examples } = browser;
  const side = examples.b < 0 ? "" : system === examples.a ? "a" : system === examples.b ? "b" : "";
  const card = element(
    "section", { class: `system ${side}` },
    element("h4", { dir: "auto" }, side ? [badge(side), " "] : [], examples.labels[system], editButton(browser, system, own, scores)),
    side ? null : chipList(browser, scores, system),
    textList(own.candidates, marking),
  );
  if (own.references) {
    card.append(element("details", {}, element("summary", {}, `Compared with ${own.references.length} references of its own`), textList(own.references, { terms: browser.terms })));
  }
  for (const part of explained) card.append(explanationNode(part, own.candidates, own.references ?? common));
  return card;
}

function chipList(browser, scores, system) {
  const chips = scores
    .filter((row) => !Number.isNaN(row.scores[system]))
    .map((row) => {
      const p = row.p && !Number.isNaN(row.p[system]) ? ` · p ${numberText(row.p[system])}` : "";
      const active = row.name === browser.sortedMetric();
      return element("span", { class: active ? "chip active" : "chip" }, element("span", { class: "name" }, row.name), ` ${scoreText(row.scores[system])}${p}`);
    });
  return chips.length ? element("p", { class: "chips" }, chips) : null;
}

/** Return the table of the scores of A and B; the better one of each metric is bold. */
function scoreTable(browser, scores) {
  const { a, b } = browser.examples;
  const withP = scores.some((row) => row.p && !(Number.isNaN(row.p[a]) && Number.isNaN(row.p[b])));
  const head = ["A", "B", "A − B", ...(withP ? ["p of A", "p of B"] : [])];
  const body = scores
    .filter((row) => !(Number.isNaN(row.scores[a]) && Number.isNaN(row.scores[b])))
    .map((row) => {
      const [x, y] = [row.scores[a], row.scores[b]];
      const winner = row.higher === null || !(x !== y) ? 0 : x > y === row.higher ? 1 : 2;
      const cell = (text, bold) => element("td", { class: bold ? "number won" : "number" }, text);
      const p = withP ? [a, b].map((system) => cell(row.p ? numberText(row.p[system]) : "")) : [];
      const arrow = row.higher === null ? "" : row.higher ? " ↑" : " ↓";
      return element(
        "tr", { class: row.name === browser.sortedMetric() ? "active" : "" },
        element("th", { scope: "row" }, row.name, element("span", { class: "arrow", "aria-hidden": "true" }, arrow)), cell(scoreText(x), winner === 1), cell(scoreText(y), winner === 2), cell(signedText(x - y)), p,
      );
    });
  const heads = head.map((text) => element("th", { scope: "col", class: "number" }, text));
  return element("div", { class: "scroll" }, element("table", { class: "scores" }, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Score"), heads)), element("tbody", {}, body)));
}

/** Return the node of an explanation: a title, and texts with their roles. */
function explanationNode(part, candidates, references) {
  const texts = [...candidates, ...references];
  const rows = part.texts.map(([place, role]) =>
    element("li", {}, element("span", { class: "role" }, role), " ", element("span", { dir: "auto" }, texts[place]), element("span", { class: "soft" }, place < candidates.length ? " candidate" : " reference")),
  );
  return element("div", { class: "explanation" }, element("p", {}, part.title), element("ul", { class: "texts" }, rows));
}
