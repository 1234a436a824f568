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

/**
 * A folder is a file: each file is found, read and linked on its own when it is loaded, which takes longer than most of what is
 * in it. What `tilec --help` prints with lies alone, and so does what compares outputs, with its packages.
 */
const folders: readonly (readonly [file: string, modules: RegExp])[] = [
  ["diagnostic", /\/ir\/(types|diagnostic|text\/render)\.ts$/],
  ["ir", /\/ir\//],
  ["backends", /\/backends\/(reference\/|[^/]+\.ts$)/],
  ["sim", /\/backends\/(sim|wasm)\//],
  ["webgpu", /\/backends\/(webgpu|wgsl)\//],
  ["pto", /\/backends\/pto\//],
  ["passes", /\/passes\//],
  ["api", /\/src\/api\/(?!against|origin-of)/],
];

/** Modules that several entries share are in files of their own, once, with the names that the sources give them. */
const output = (shared: string): OutputOptions => ({
  dir: "dist",
  chunkFileNames: `${shared}/[name].js`,
  codeSplitting: {
    groups: folders.map(([name, test]) => ({ name, test })),
  },
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
