// Words of captions: those of the references, those of a search, and those that only one of two systems says.
const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu;
const LONG = 600;
const LARGEST_ALIGNMENT = 4e6; // cells of the table that aligns two texts; beyond, words are compared as sets

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

/** Return marks of the words of a text that a list of other texts lacks: by alignment with one other text, by its words with several. */
function differenceMarks(text, others, name) {
  const matches = [...text.matchAll(WORD)];
  const words = matches.map(([word]) => word.toLowerCase());
  const other = others.length === 1 ? [...others[0].matchAll(WORD)].map(([word]) => word.toLowerCase()) : null;
  const aligned = other && words.length * other.length <= LARGEST_ALIGNMENT ? alignedWords(words, other) : null;
  const said = aligned ? null : wordsOf(others);
  return matches
    .filter((_, k) => (aligned ? !aligned[k] : !said.has(words[k])))
    .map((match) => ({ start: match.index, end: match.index + match[0].length, name }));
}

/** Return for each of some words whether a longest common subsequence with others holds it. */
function alignedWords(words, others) {
  const width = others.length + 1;
  const lengths = new Uint32Array((words.length + 1) * width);
  for (let i = words.length - 1; i >= 0; i--) {
    for (let j = others.length - 1; j >= 0; j--) {
      const at = i * width + j;
      lengths[at] = words[i] === others[j] ? lengths[at + width + 1] + 1 : Math.max(lengths[at + width], lengths[at + 1]);
    }
  }
  const held = new Array(words.length).fill(false);
  for (let i = 0, j = 0; i < words.length && j < others.length; ) {
    if (words[i] === others[j]) {
      held[i++] = true;
      j++;
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i++;
    else j++;
  }
  return held;
}

/** Return marks of runs of known words; runs of frequent words alone have none. */
function knownMarks(text, known) {
  const marks = [];
  let run = null;
  for (const match of text.matchAll(WORD)) {
    const word = match[0].toLowerCase();
    if (!known.has(word)) {
      run = null;
      continue;
    }
    const end = match.index + match[0].length;
    if (run && /^\s*$/.test(text.slice(run.end, match.index))) run.end = end;
    else marks.push((run = { start: match.index, end, name: "match", rare: false }));
    run.rare ||= !known.frequent?.has(word);
  }
  return marks.filter((mark) => mark.rare);
}

function foundMarks(text, terms) {
  const lower = text.toLowerCase();
  const marks = [];
  if (lower.length !== text.length) return marks;
  for (const term of terms) {
    for (let at = lower.indexOf(term); at >= 0 && term; at = lower.indexOf(term, at + term.length)) {
      marks.push({ start: at, end: at + term.length, name: "found" });
    }
  }
  return marks;
}

/** Marks of one caption: `known` words of the references, `terms` of a search, and `extra`, a function of the text that returns more. */
function markedText(text, { known = null, terms = [], extra = null } = {}) {
  return nodesOf(text, [...(known ? knownMarks(text, known) : []), ...(extra ? extra(text) : []), ...foundMarks(text, terms)]);
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

/** Return a list of texts; equal ones stand once, with their number. */
function textList(texts, marking, roles = []) {
  const counts = new Map();
  texts.forEach((text, k) => {
    const entry = counts.get(text) ?? { times: 0, roles: [] };
    entry.times += 1;
    entry.roles.push(...(roles[k] ?? []));
    counts.set(text, entry);
  });
  return element("ul", { class: "texts" }, [...counts].map(([text, entry]) => textItem(text, entry, marking)));
}

function textItem(text, { times, roles }, marking) {
  const short = text.length > LONG ? text.slice(0, LONG) : text;
  const body = element("span", { dir: "auto" }, markedText(short, marking));
  const item = element("li", {}, text ? body : element("span", { class: "soft" }, "(empty)"));
  for (const role of new Set(roles)) item.append(" ", element("span", { class: "role" }, role));
  if (times > 1) item.append(element("span", { class: "soft" }, ` × ${times}`));
  if (short !== text) {
    const more = element("button", { type: "button" }, `… all ${text.length.toLocaleString("en")} characters`);
    more.addEventListener("click", () => {
      body.replaceChildren(...markedText(text, marking));
      more.remove();
    });
    item.append(" ", more);
  }
  return item;
}
