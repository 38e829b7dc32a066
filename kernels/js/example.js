// Two systems on two images, in node: `make wasm && node kernels/js/example.js`. In a page: `const kernels = await load()`.
import { readFile } from "node:fs/promises";
import { load } from "./caption_kernels.js";
import { METRICS, Task } from "./metrics.js";

const kernels = await load(await readFile(new URL("caption_kernels.wasm", import.meta.url)));
const task = new Task(kernels, [["A dog runs.", "The dog's running!"], ["A cat.", "The cat sleeps on a mat."]]);
for (const [system, captions] of Object.entries({ beam: ["a dog runs", "a cat sleeps"], nucleus: ["the dog", "a mat"] })) {
  const results = task.score(captions.map((caption) => [caption]));
  for (const [name, { value, scores }] of Object.entries(results)) console.log(system, METRICS[name].title, value.toFixed(4), [...scores]);
}
task.free();
console.log(kernels.tokenize(["A man's dog!"]));
