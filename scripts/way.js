/**
 * node scripts/way.js: the modules whose code one gather executes on its way from flags to WGSL, by folder, and the WeakMaps of the
 * sources. Needs a built `dist/`.
 *
 * The way is that of `tilec compile --op gather_elements --target webgpu --emit wgsl`, minus the modules that `tilec compile --help` executes
 * too: those read the command line. Modules that are loaded and of which no function is called are not counted.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(import.meta.dirname, "..");
const tilec = join(root, "dist/src/cli/main.js");

/** Returns the sources of which a run of the command calls a function, with the number of these. */
function executed(words) {
  const folder = mkdtempSync(join(tmpdir(), "tilec-way-"));
  try {
    execFileSync(process.execPath, [tilec, ...words], {
      env: { ...process.env, NODE_V8_COVERAGE: folder },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const called = new Map();
    for (const name of readdirSync(folder)) {
      for (const { url, functions } of JSON.parse(readFileSync(join(folder, name), "utf8")).result) {
        if (!url.startsWith("file:")) continue;
        const file = fileURLToPath(url);
        if (!file.startsWith(join(root, "dist"))) continue;
        const sourceOf = mapped(file);
        // The first is the file itself, which runs when it is loaded.
        for (const { ranges } of functions.slice(1)) {
          const source = ranges[0].count > 0 ? sourceOf(ranges[0].startOffset) : undefined;
          if (source !== undefined) called.set(source, (called.get(source) ?? 0) + 1);
        }
      }
    }
    return called;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the source of a place in a built file. */
function mapped(file) {
  // A file that only hands on has none.
  if (!existsSync(`${file}.map`)) return () => undefined;
  const text = readFileSync(file, "utf8");
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, "utf8")));
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    const { originalSource } = map.findEntry(line, offset - starts[line]);
    return originalSource === undefined
      ? undefined
      : relative(root, resolve(dirname(file), originalSource)).replaceAll("\\", "/");
  };
}

const flags = ["--op", "gather_elements", "--data", "f32[40,24]", "--indices", "i32[40,24]", "--axis", "1"];
const reading = executed(["compile", "--help"]);
const way = [...executed(["compile", ...flags, "--target", "webgpu", "--emit", "wgsl"])]
  .filter(([source]) => !reading.has(source))
  .sort(([a], [b]) => (a < b ? -1 : 1));
const folderOf = (source) =>
  source
    .split("/")
    .slice(0, source.startsWith("src") ? 2 : 1)
    .join("/");
for (const folder of new Set(way.map(([source]) => folderOf(source)))) {
  const inside = way.filter(([source]) => folderOf(source) === folder);
  console.log(`${folder}: ${inside.length} modules`);
  for (const [source, functions] of inside) console.log(`  ${source}: ${functions} functions`);
}
console.log(`${way.length} modules from flags to WGSL`);

const weak = ["ir", "passes", "backends", "src"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => file.endsWith(".ts"))
  .flatMap((file) => [...readFileSync(join(root, file), "utf8").matchAll(/new WeakMap\b/g)].map(() => file))
  .sort();
console.log(`${weak.length} WeakMaps: ${weak.join(", ")}`);
