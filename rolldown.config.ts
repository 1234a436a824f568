/** What `npm run build` makes of the sources: the package, what else runs in Node, and pages of tests and benchmarks. */
import { defineConfig, type OutputOptions } from "rolldown";
import manifest from "./package.json" with { type: "json" };

/** Built files and the sources they begin with: `dist/ir/index.js` with `ir/index.ts`. */
const entries = (files: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    files.map((file) => {
      const name = file.replace(/^(\.\/)?dist\//, "").replace(/\.js$/, "");
      return [name, `${name}.ts`];
    }),
  );

/** Modules that several entries share are in files of their own, once, with the names that the sources give them. */
const output = (shared: string): OutputOptions => ({
  dir: "dist",
  chunkFileNames: `${shared}/[name].js`,
  minifyInternalExports: false,
  // Sources are published.
  sourcemap: true,
  sourcemapExcludeSources: true,
});

/** Packages and modules of Node are imported where the built files run. */
const external = /^[^./]/;

const exported = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [entry.default],
);
const threads = ["dist/src/device/thread.js", "dist/src/device/measure-thread.js"];
const forked = ["dist/bench/cold-process.js", "dist/test/fuzz/worker.js"];
const started = Object.values(manifest.scripts).flatMap(
  (script) => script.match(/(?<=node )dist\/\S+\.js/g) ?? [],
);

export default defineConfig([
  {
    input: entries([...exported, manifest.bin.tilec, ...threads]),
    platform: "neutral",
    external,
    output: output("chunks"),
  },
  {
    input: entries([...started, ...forked]),
    platform: "node",
    external,
    output: output("tools"),
  },
  {
    input: entries(["dist/bench/page.js", "dist/test/browser/page.js", "dist/test/browser/thread.js"]),
    platform: "browser",
    output: output("pages"),
  },
]);
