// node run_vectors.mjs MODULE VECTORS LEXICONS: prints the report of compareVectors as JSON. LEXICONS has the files NAME.lexicon.
import { readFileSync, readdirSync } from "node:fs";
import { load } from "../../../kernels/js/caption_kernels.js";
import { compareVectors } from "./vectors.js";

const [wasm, vectors, lexicons] = process.argv.slice(2);
const files = {};
for (const name of readdirSync(vectors)) files[name.replace(".json", "")] = JSON.parse(readFileSync(`${vectors}/${name}`, "utf8"));
files.meteor.lexiconBytes = Object.fromEntries(
  readdirSync(lexicons).map((name) => [name.replace(".lexicon", ""), readFileSync(`${lexicons}/${name}`)]));
console.log(JSON.stringify(compareVectors(await load(readFileSync(wasm)), files)));
