/**
 * node scripts/models.js PACKAGE[@VERSION] [--model FILE] [--bind LIST]: rows of the table in docs/onnx.md, one for each ONNX model that a
 * package ships. PACKAGE is what `npm pack` takes, a folder too; nothing of it is run. Needs a built `dist/`.
 *
 * `--model` takes the models of one file name alone, `--bind` gives them extents, as `tilec plan` takes it. A model that the package holds
 * twice is counted once.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { extract } from "tar";
import { readModel, surveyModel } from "tilec/onnx";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { model: { type: "string" }, bind: { type: "string" } },
});
const [wanted] = positionals;
if (wanted === undefined || positionals.length > 1) {
  console.error("usage: node scripts/models.js PACKAGE[@VERSION] [--model FILE] [--bind LIST]");
  process.exit(2);
}
const tilec = new URL("../dist/src/cli/main.js", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "tilec-models-"));
try {
  const words = ["pack", wanted, "--json", "--ignore-scripts", "--pack-destination", folder];
  const packed = JSON.parse(execFileSync("npm", words, { encoding: "utf8" }));
  const [{ name, version, filename }] = Array.isArray(packed) ? packed : Object.values(packed);
  extract({ file: join(folder, filename), cwd: folder, sync: true });
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".onnx") && (values.model ?? basename(file)) === basename(file))
    .sort();
  if (files.length === 0) {
    console.error(`${name} ${version} holds no ${values.model ?? "ONNX model"}`);
    process.exitCode = 1;
  }
  const seen = new Map();
  for (const file of files) {
    const path = join(folder, file);
    const shown = relative("package", file);
    const bytes = readFileSync(path);
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (seen.has(hash)) {
      console.error(`${shown} is ${seen.get(hash)}`);
      continue;
    }
    seen.set(hash, shown);
    console.error(`${shown}: ${bytes.length} bytes, SHA-256 ${hash}`);
    const bind = values.bind === undefined ? [] : ["--bind", values.bind];
    const plan = execFileSync(process.execPath, [tilec, "plan", path, "--json", ...bind], {
      encoding: "utf8",
      maxBuffer: 2 ** 30,
    });
    const { totals } = JSON.parse(plan);
    const gathers = surveyModel(readModel(bytes, file)).nodes.length;
    const cells = [
      `\`${name}\` ${version}`,
      `\`${basename(file)}\``,
      values.bind === undefined ? "nothing" : `\`--bind ${values.bind}\``,
      gathers,
      ...["compiled", "folded", "refused", "open"].map((status) => totals[status]),
      new Date().toISOString().slice(0, 10),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
