// node run_vectors.mjs MODULE VECTORS: prints the report of compareVectors as JSON.
import { readFileSync, readdirSync } from "node:fs";
import { load } from "../../../kernels/js/caption_kernels.js";
import { compareVectors } from "./vectors.js";

const [wasm, vectors] = process.argv.slice(2);
const files = {};
for (const name of readdirSync(vectors)) files[name.replace(".json", "")] = JSON.parse(readFileSync(`${vectors}/${name}`, "utf8"));
console.log(JSON.stringify(await compareVectors(await load(readFileSync(wasm)), files)));
