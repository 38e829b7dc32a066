// node build_lexicon.mjs MODULE JAR: the bytes of METEOR's lexicon of a jar and of the table on stdin (a JSON string), as JSON.
import { readFileSync } from "node:fs";
import { load } from "../../../kernels/js/caption_kernels.js";
import { buildLexicon } from "../../../kernels/js/lexicon.js";

const [wasm, jar] = process.argv.slice(2);
const kernels = await load(readFileSync(wasm));
const table = new Blob([JSON.parse(readFileSync(0, "utf8"))]).stream();
console.log(JSON.stringify([...(await buildLexicon(kernels, new Uint8Array(readFileSync(jar)), table))]));
