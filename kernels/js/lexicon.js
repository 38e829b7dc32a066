// METEOR's lexicon from the files of its distribution: the word lists inside meteor-1.5.jar and the table paraphrase-en.gz.

import { cumulate } from "./caption_kernels.js";

const LISTS = ["function/english.words", "nonbreaking/english.prefixes", "synonym/english.exceptions", "synonym/english.synsets"];
const VERSION = 3;
const TABLE_SECTIONS = 7; // of the paraphrase table, before those of the lists
const DAMAGED = "METEOR's lexicon: the data are damaged or of another version";
const BLOCK = 1 << 20;

/** True for the bytes of a jar (a zip file). */
export const isJar = (bytes) => bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;

async function inflate(bytes, format) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Contents of files of a zip archive. */
async function readZip(bytes, names) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error(DAMAGED);
  const found = new Map();
  let at = view.getUint32(end + 16, true);
  for (let count = view.getUint16(end + 10, true); count > 0; count--) {
    const [nameSize, extraSize, noteSize] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameSize));
    if (names.includes(name)) {
      const local = view.getUint32(at + 42, true);
      const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
      const data = bytes.subarray(start, start + view.getUint32(at + 20, true));
      found.set(name, view.getUint16(at + 10, true) === 0 ? data : await inflate(data, "deflate-raw"));
    }
    at += 46 + nameSize + extraSize + noteSize;
  }
  return names.map((name) => {
    if (!found.has(name)) throw new Error(`METEOR's lexicon: the jar lacks ${name}`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(found.get(name));
  });
}

const linesOf = (text) => text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
const fieldsOf = (line) => line.split(/[ \t\n\v\f\r]+/).filter(Boolean);

/** Each odd line with the one behind it. */
function linePairs(text) {
  const lines = linesOf(text);
  if (lines.length % 2) throw new Error(DAMAGED);
  return Array.from({ length: lines.length / 2 }, (_, k) => [lines[2 * k], lines[2 * k + 1]]);
}

/** Contents of the four lists: texts of the files in the jar. */
function readLists([functions, prefixes, exceptions, synsets]) {
  const kinds = linesOf(prefixes).filter((line) => line.trim() && !line.startsWith("#")).map(fieldsOf);
  return {
    functions: linesOf(functions),
    prefixes: new Map(kinds.map(([word, ...more]) => [word, more.includes("#NUMERIC_ONLY#")])),
    exceptions: linePairs(exceptions).flatMap(([base, forms]) => fieldsOf(forms).map((form) => [form, base])),
    synsets: new Map(linePairs(synsets).map(([word, numbers]) => [word, fieldsOf(numbers).map(Number)])),
  };
}

/** Bounds of the values of each owner, and the values by owner: owners are numbers below `size`. */
function runsOf(entries, size) {
  const counts = new Array(size).fill(0);
  for (const [owner] of entries) counts[owner]++;
  const sorted = [...entries].sort((one, other) => one[0] - other[0]); // stable
  return [Int32Array.from(cumulate(counts)), Int32Array.from(sorted, ([, value]) => value)];
}

/** Sections of the lists for words whose numbers are known, of a table with `size` words. */
function listSections(lists, numberOf, size) {
  const flags = new Uint8Array(size);
  const numeric = [...lists.prefixes].filter(([, only]) => only).map(([word]) => word);
  [lists.functions, [...lists.prefixes.keys()], numeric, [...lists.synsets.keys()]].forEach((words, bit) => {
    for (const word of words) flags[numberOf.get(word)] |= 1 << bit;
  });
  const distinct = [...new Set([...lists.synsets.values()].flat())].sort((a, b) => a - b);
  const place = new Map(distinct.map((number, k) => [number, k]));
  const members = [...lists.synsets].flatMap(([word, numbers]) =>
    [...new Set(numbers.map((number) => place.get(number)))].sort((a, b) => a - b).map((set) => [numberOf.get(word), set]));
  const bases = lists.exceptions.map(([form, base]) => [numberOf.get(form), numberOf.get(base)]);
  return { sections: [flags, ...runsOf(members, size), ...runsOf(bases, size)], synsets: distinct.length };
}

/** The buffer of a lexicon, without its checksum. */
function writeBuffer(sections, synsets) {
  const header = 40 + 16 * sections.length;
  const starts = cumulate([header, ...sections.map((section) => Math.ceil(section.byteLength / 8) * 8)]).slice(1);
  const bytes = new Uint8Array(starts[sections.length]);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode("CKMETEOR"));
  view.setUint32(8, VERSION, true);
  view.setUint32(12, sections.length, true);
  view.setBigInt64(16, BigInt(bytes.length), true);
  view.setBigInt64(32, BigInt(synsets), true);
  sections.forEach((section, k) => {
    view.setBigInt64(40 + 16 * k, BigInt(starts[k]), true);
    view.setBigInt64(48 + 16 * k, BigInt(section.byteLength), true);
    bytes.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength), starts[k]);
  });
  return bytes;
}

/**
 * Bytes of a lexicon for Kernels.openLexicon.
 *
 * `jar` are the bytes of meteor-1.5.jar, or the texts of its four lists; `table` a stream of the bytes of the paraphrase table, inflated.
 */
export async function buildLexicon(kernels, jar, table) {
  const lists = readLists(Array.isArray(jar) ? jar : await readZip(jar, LISTS));
  const { exports } = kernels;
  const reader = kernels.newHandle("paraphrases", (_, slot) => exports.ck_paraphrases_new(slot));
  try {
    for (const input = table.getReader(); ; ) {
      const { done, value } = await input.read();
      if (done) break;
      for (let start = 0; start < value.length; start += BLOCK) {
        const block = value.slice(start, start + BLOCK);
        kernels.call((call) => call.check(exports.ck_paraphrases_feed(reader.address, call.copy(block), BigInt(block.length)), "METEOR's lexicon"));
      }
    }
    const words = [...new Set([...lists.functions, ...lists.prefixes.keys(), ...lists.exceptions.flat(), ...lists.synsets.keys()])];
    return kernels.call((call) => {
      const numbers = call.allocate(8 * words.length);
      const slots = call.allocate(16 * TABLE_SECTIONS);
      const texts = call.texts(words);
      call.check(exports.ck_paraphrases_finish(reader.address, texts, BigInt(words.length), numbers, slots), "METEOR's lexicon");
      const numberOf = new Map(call.readIntegers(numbers, words.length).map((number, k) => [words[k], number]));
      const view = new DataView(exports.memory.buffer, slots);
      const sections = Array.from({ length: TABLE_SECTIONS }, (_, k) =>
        new Uint8Array(exports.memory.buffer, view.getUint32(16 * k, true), Number(view.getBigInt64(16 * k + 8, true))));
      const own = listSections(lists, numberOf, sections[1].length / 8 - 1);
      return writeBuffer([...sections, ...own.sections], own.synsets);
    });
  } finally {
    reader.free();
  }
}
