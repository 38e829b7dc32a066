// node describe.mjs MODULE: what the module imports, and the version of the package, as JSON.
import { readFileSync } from "node:fs";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const { version } = JSON.parse(readFileSync(new URL("../../../kernels/js/package.json", import.meta.url), "utf8"));
console.log(JSON.stringify({ imports: WebAssembly.Module.imports(module), version }));
