// Data blocks: gzip in base64 inside script elements, decompressed by the browser when they are needed.
//
// A page from file:// may not fetch anything, so its data lie inside it; as elements of an unknown type the browser neither runs nor parses
// them. A page of 10^5 examples opens at once, because only the index of the examples is unpacked then: scores when the list is sorted by
// them, captions by blocks of 500 as they come into view, the library of charts when the tab of plots is first opened.
const blocks = new Map(all("script[data-block]").map((node) => [node.dataset.block, node]));

function hasBlock(name) {
  return blocks.has(name);
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

async function blockBytes(name) {
  const stream = new Blob([fromBase64(blocks.get(name).textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function blockText(name) {
  return new TextDecoder().decode(await blockBytes(name));
}

async function blockJson(name) {
  return JSON.parse(await blockText(name));
}

/** Return numbers (systems x examples) whose bytes are grouped by significance. */
async function blockNumbers(name) {
  const planes = await blockBytes(name);
  const count = planes.length / 4;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < 4; plane++) {
    const start = plane * count;
    for (let k = 0; k < count; k++) bytes[4 * k + plane] = planes[start + k];
  }
  return new Float32Array(bytes.buffer);
}

/** Cache of the results of a function of one name; the oldest of more than `size` is dropped. */
function cached(load, size = Infinity) {
  const values = new Map();
  return (name) => {
    if (!values.has(name)) {
      values.set(name, load(name));
      if (values.size > size) values.delete(values.keys().next().value);
    }
    return values.get(name);
  };
}

/** Wait until the browser has had time for input and painting. */
function breath() {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
