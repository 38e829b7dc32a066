// Files of captions: JSON, JSON Lines, csv and tsv become lists of { id, captions } in the order of the file.

const ID_COLUMNS = [
  "id", "image_id", "video_id", "cocoid", "img_id", "imgid", "youtube_id", "file_name", "filename", "index", "videoID", "sample_id",
  "doc_id", "audio_id", "clip_id", "image_name", "image", "video", "audio", "key", "name",
];
const CANDIDATE_COLUMNS = [
  "candidates", "predictions", "prediction", "generated_captions", "generated_caption", "generated_text", "hypotheses", "hypothesis",
  "generations", "generation", "captions", "caption", "text", "enCap", "sentence", "output", "outputs", "response", "responses", "completion",
  "comment",
];
const REFERENCE_COLUMNS = [
  "references", "captions", "caption", "sentences", "reference", "refs", "ground_truth", "targets", "target", "enCap", "sentence", "text", "comment",
];
const WRAPPERS = {
  candidates: ["predictions", "candidates", "hypotheses", "generations", "outputs"],
  references: ["references"],
};
const SHARED_WRAPPERS = ["annotations", "results", "result", "captions", "data", "samples", "items", "examples", "records"];
const LEXICON_MAGIC = "CKMETEOR";

/** A fault of a file: the message is one line. */
export class FileError extends Error {}

/** JSON whose objects are Maps: the keys of a file of ids keep their order, which JSON.parse loses for numbers. */
export function parseJson(text) {
  let at = 0;
  const fail = (reason) => {
    throw new FileError(`not JSON at character ${at + 1}: ${reason}`);
  };
  const literal = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;
  const string = /"(?:[^"\\]|\\.)*"/sy;
  const blank = /[ \t\n\r]*/y;
  const take = (pattern) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at += match[0].length;
    return match?.[0];
  };
  const skip = (character) => {
    take(blank);
    if (text[at] !== character) return false;
    at++;
    take(blank);
    return true;
  };
  const readString = () => {
    const found = take(string);
    if (found === undefined) fail("expected a string");
    try {
      return JSON.parse(found);
    } catch {
      return fail("a string with a control character or a broken escape");
    }
  };
  const items = (close, read) => {
    if (skip(close)) return;
    do read();
    while (skip(","));
    if (!skip(close)) fail(`expected , or ${close}`);
  };
  const value = () => {
    take(blank);
    if (text[at] === "{") {
      at++;
      const object = new Map();
      items("}", () => {
        take(blank);
        const key = readString();
        if (!skip(":")) fail("expected :");
        if (object.has(key)) fail(`the key '${key}' occurs twice in one object`);
        object.set(key, value());
      });
      return object;
    }
    if (text[at] === "[") {
      at++;
      const list = [];
      items("]", () => list.push(value()));
      return list;
    }
    if (text[at] === '"') return readString();
    const found = take(literal);
    return found === undefined ? fail(at < text.length ? `unexpected ${text[at]}` : "the file breaks off") : JSON.parse(found);
  };
  const result = value();
  take(blank);
  if (at < text.length) fail("more text behind the value");
  return result;
}

/** Rows of cells of csv text: quotes hold separators and line ends; a tab separates without quotes. */
export function parseTable(text, separator) {
  if (separator === "\t") return text.split(/\r?\n/).filter(Boolean).map((line) => line.split("\t"));
  const rows = [];
  let [row, cell, quoted] = [[], "", false];
  const endRow = () => {
    row.push(cell);
    if (row.length > 1 || row[0]) rows.push(row);
    [row, cell] = [[], ""];
  };
  for (let k = 0; k < text.length; k++) {
    const character = text[k];
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[k + 1] === '"') cell += text[++k];
      else quoted = false;
    } else if (character === '"' && !cell) quoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = "";
    } else if (character === "\n") endRow();
    else if (character !== "\r" || text[k + 1] !== "\n") cell += character;
  }
  if (cell || row.length) endRow();
  return rows;
}

function recordsOfTable(text) {
  const [first] = text.split("\n", 1);
  const separator = first.includes("\t") ? "\t" : [",", ";", "|"].find((mark) => first.includes(mark)) ?? ",";
  const rows = parseTable(text, separator);
  const header = rows[0].map((cell) => cell.trim());
  const known = header.some((name) => ID_COLUMNS.includes(name)) && header.some((name) => [...CANDIDATE_COLUMNS, ...REFERENCE_COLUMNS].includes(name));
  if (!known && separator === "\t" && header.length === 2) return rows.map(([id, caption]) => new Map([["id", id], ["caption", caption]]));
  if (!known) throw new FileError("its first line names no column of ids and of captions, such as id,caption");
  return rows.slice(1).map((row, k) => {
    if (row.length !== header.length) throw new FileError(`row ${k + 2} has ${row.length} cells; expected ${header.length}, as in the header`);
    return new Map(header.map((name, column) => [name, row[column]]));
  });
}

function captionsOf(value, place) {
  const list = (Array.isArray(value) ? value : [value]).map((item) => (item instanceof Map ? item.get("caption") ?? item.get("raw") : item));
  for (const text of list) {
    if (typeof text !== "string") throw new FileError(`${place}: expected text, found ${JSON.stringify(text) ?? "nothing"}`);
    if (!text.trim()) throw new FileError(`${place}: the caption is empty`);
  }
  return list;
}

function identity(value, place) {
  if (typeof value === "number" && Number.isInteger(value)) return String(value);
  if (typeof value !== "string" || !value.trim()) throw new FileError(`${place}: expected an id (a whole number or text)`);
  return value;
}

/** Captions by id, in the order of the first record of each id. */
function groupRecords(records, role) {
  const columns = role === "references" ? REFERENCE_COLUMNS : CANDIDATE_COLUMNS;
  const first = records[0];
  if (!(first instanceof Map)) throw new FileError("expected a list of objects with an id and a caption");
  const idColumn = ID_COLUMNS.find((name) => ["string", "number"].includes(typeof first.get(name)));
  const column = columns.find((name) => first.has(name) && name !== idColumn);
  if (!idColumn || !column) throw new FileError(`found the columns ${[...first.keys()].slice(0, 6).join(", ")}; expected an id and captions`);
  const groups = new Map();
  records.forEach((record, k) => {
    const place = `record ${k + 1}`;
    if (!(record instanceof Map)) throw new FileError(`${place}: expected an object`);
    const id = identity(record.get(idColumn), `${place}: '${idColumn}'`);
    const captions = captionsOf(record.get(column), `${place}: '${column}'`);
    groups.set(id, [...(groups.get(id) ?? []), ...captions]);
  });
  return groups;
}

function ofImages(object) {
  const groups = new Map();
  for (const image of object.get("images")) {
    const id = identity(image.get("cocoid") ?? image.get("imgid") ?? image.get("id"), "images");
    if (groups.has(id)) throw new FileError(`the image id '${id}' occurs twice`);
    groups.set(id, image.has("sentences") ? captionsOf(image.get("sentences"), `image ${id}`) : []);
  }
  for (const [k, record] of (object.get("annotations") ?? []).entries()) {
    const id = identity(record.get("image_id"), `annotation ${k + 1}`);
    if (!groups.has(id)) throw new FileError(`annotation ${k + 1} is of the image '${id}', which 'images' does not list`);
    groups.get(id).push(...captionsOf(record.get("caption"), `annotation ${k + 1}`));
  }
  return groups;
}

function ofObject(object, role) {
  if (Array.isArray(object.get("images"))) return ofImages(object);
  for (const key of [...WRAPPERS[role], ...SHARED_WRAPPERS]) {
    if (Array.isArray(object.get(key)) && object.get(key)[0] instanceof Map) return groupRecords(object.get(key), role);
  }
  return new Map([...object].map(([id, value]) => [id, captionsOf(value, `'${id}'`)]));
}

function parseRecords(text, name, role) {
  const start = text.trimStart()[0];
  if (start === "[") return groupRecords(parseJson(text), role);
  if (start !== "{") return groupRecords(recordsOfTable(text), role);
  const [first, ...more] = text.split("\n").filter((line) => line.trim());
  if (/\.(jsonl|ndjson)(\.gz)?$/i.test(name) || (more.length && isObject(first) && isObject(more[0]))) {
    return groupRecords([first, ...more].map(parseJson), role);
  }
  return ofObject(parseJson(text), role);
}

function isObject(line) {
  try {
    return JSON.parse(line) !== null && line.trim().startsWith("{");
  } catch {
    return false;
  }
}

/** Captions by id of a file, as references or as candidates. */
export function readCaptions(text, name, role) {
  try {
    const groups = parseRecords(text.replace(/^\ufeff/, ""), name, role);
    const bare = [...groups].find(([, captions]) => !captions.length);
    if (!groups.size) throw new FileError("the file holds no captions");
    if (bare) throw new FileError(`'${bare[0]}' has no captions`);
    return groups;
  } catch (error) {
    if (error instanceof FileError) throw new FileError(`${name}: ${error.message}`);
    throw error;
  }
}

/** Stream of the bytes of a file, decompressed where it is gzipped. */
export async function openStream(file) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return first === 0x1f && second === 0x8b ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
}

/** Bytes of a file, decompressed where it is gzipped. */
export async function readBytes(file) {
  try {
    return new Uint8Array(await new Response(await openStream(file)).arrayBuffer());
  } catch (error) {
    throw new FileError(`${file.name}: the gzip file is broken or cut off (${error.message})`);
  }
}

/** What the bytes of a file are: METEOR's lexicon, or text. */
export const isLexicon = (bytes) => new TextDecoder("latin1").decode(bytes.subarray(0, 8)) === LEXICON_MAGIC;

/** UTF-8 text of bytes. */
export function decodeBytes(bytes, name) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const parquet = new TextDecoder("latin1").decode(bytes.subarray(0, 4)) === "PAR1";
    throw new FileError(`${name}: ${parquet ? "Parquet is not read here; harness score reads it" : "not UTF-8"}`);
  }
}

/** Label of a system: the name of its file without endings. */
export const labelOf = (name) => name.replace(/(\.(json|jsonl|ndjson|gz|csv|tsv|txt))+$/i, "") || name;

/** References and candidates of each system by example, in the order of the references. */
export function joinFiles(references, systems) {
  const ids = [...references.keys()];
  const candidates = systems.map(({ label, captions }) => {
    const unknown = [...captions.keys()].filter((id) => !references.has(id));
    const missing = ids.filter((id) => !captions.has(id));
    const quote = (list) => list.slice(0, 3).map((id) => `'${id}'`).join(", ") + (list.length > 3 ? ", ..." : "");
    if (unknown.length) throw new FileError(`${label}: ${unknown.length} of its ids have no references: ${quote(unknown)}`);
    if (missing.length) throw new FileError(`${label}: no candidates for ${missing.length} of ${ids.length} examples: ${quote(missing)}`);
    return ids.map((id) => captions.get(id));
  });
  return { ids, references: ids.map((id) => references.get(id)), candidates };
}
