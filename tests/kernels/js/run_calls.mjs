// node run_calls.mjs MODULE: reads [[method, argument, ...], ...] from stdin, prints the results of these methods of Kernels as JSON.
import { readFileSync } from "node:fs";
import { load } from "../../../kernels/js/caption_kernels.js";

const kernels = await load(readFileSync(process.argv[2]));
const calls = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(calls.map(([method, ...values]) => [...kernels[method](...values)])));
