// Bundles the libraries of the page into one file each, collects their licences, and writes their checksums.
// `make vendor` runs it after `npm ci`, which checks every package against the checksums of package-lock.json.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;
const bundles = {
  "tables.js": 'export * from "@tanstack/table-core"; export * from "@tanstack/virtual-core";',
  "charts.js": 'export { default as embed } from "vega-embed"; export { version } from "vega";',
};
const names = { "tables.js": "Tables", "charts.js": "Charts" };
const packages = new Set();

for (const [file, contents] of Object.entries(bundles)) {
  const result = await build({
    stdin: { contents, resolveDir: here },
    bundle: true,
    minify: true,
    format: "iife",
    globalName: names[file],
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    metafile: true,
    define: { "process.env.NODE_ENV": '"production"' },
    outfile: join(here, file),
  });
  for (const input of Object.keys(result.metafile.inputs)) {
    const match = input.match(/^.*node_modules\/((?:@[^/]+\/)?[^/]+)/);
    if (match) packages.add(match[0]);
  }
}

const separator = "-".repeat(72);
const parts = [...packages].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));
  const file = readdirSync(join(here, folder)).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry));
  if (!file && !license) throw new Error(`${name} has no licence`);
  const text = file ? readFileSync(join(here, folder, file), "utf8").trim() : `Licence: ${license}`;
  return `${name} ${version} (${license})\n\n${text}\n`;
});
writeFileSync(
  join(here, "LICENSES.txt"),
  `Libraries in tables.js and charts.js, with their licences.\n\n${parts.join(`\n${separator}\n`)}`,
);

const axe = join(here, "../../../tests/harness/page/vendor");
if (existsSync(axe)) {
  copyFileSync(join(here, "node_modules/axe-core/axe.min.js"), join(axe, "axe.min.js"));
  copyFileSync(join(here, "node_modules/axe-core/LICENSE"), join(axe, "LICENSE"));
}

const sums = [...Object.keys(bundles), "LICENSES.txt"].map((file) => {
  const digest = createHash("sha256").update(readFileSync(join(here, file))).digest("hex");
  return `${digest}  ${file}`;
});
writeFileSync(join(here, "SHA256SUMS"), `${sums.join("\n")}\n`);
rmSync(join(here, "node_modules"), { recursive: true, force: true });
