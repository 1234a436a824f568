/** What `npm run build` makes of the sources: the package, what else runs in Node, and pages of tests and benchmarks. */
import { relative, sep } from "node:path";
import MagicString from "magic-string";
import { defineConfig, type OutputOptions, type Plugin } from "rolldown";
import { Visitor, type ESTree } from "rolldown/utils";
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
 * A folder of the library is a file: each file is found, read and linked on its own when it is loaded, which takes longer than most
 * of what is in it. What `tilec --help` prints with lies alone, and so does what compares outputs, with its packages.
 */
const folders: readonly (readonly [file: string, modules: RegExp])[] = [
  ["diagnostic", /^ir\/(types|diagnostic|defined|argument|element-types)\.ts$/],
  ["ir", /^ir\//],
  ["backends", /^backends\/((reference|plan)\/|[^/]+\.ts$)/],
  ["sim", /^backends\/(sim|wasm)\//],
  ["webgpu", /^backends\/(webgpu|wgsl)\//],
  ["pto", /^backends\/pto\//],
  ["passes", /^passes\//],
  ["api", /^src\/api\/(?!against|origin-of)/],
];

const inRepository = (path: string): string => relative(import.meta.dirname, path).replaceAll(sep, "/");

/** Bundlers drop modules without side effects; here many are one file, where they drop only calls that say that they have none. */
const withoutEffects: Plugin = {
  name: "without-effects",
  renderChunk(code, { name }) {
    if (!folders.some(([file]) => file === name)) return null;
    const text = new MagicString(code);
    let [functions, values] = [0, 0];
    const enter = (): void => {
      functions++;
    };
    const leave = (): void => {
      functions--;
    };
    const call = ({ start }: ESTree.Span): void => {
      if (functions === 0 && values > 0) text.appendLeft(start, "/* @__PURE__ */ ");
    };
    new Visitor({
      FunctionDeclaration: enter,
      "FunctionDeclaration:exit": leave,
      FunctionExpression: enter,
      "FunctionExpression:exit": leave,
      ArrowFunctionExpression: enter,
      "ArrowFunctionExpression:exit": leave,
      VariableDeclarator() {
        values++;
      },
      "VariableDeclarator:exit"() {
        values--;
      },
      CallExpression: call,
      NewExpression: call,
    }).visit(this.parse(code));
    return { code: text.toString(), map: text.generateMap({ hires: "boundary" }) };
  },
};

/** Modules that several entries share are in files of their own, once, with the names that the sources give them. */
const output = (shared: string): OutputOptions => ({
  dir: "dist",
  chunkFileNames: `${shared}/[name].js`,
  codeSplitting: {
    groups: folders.map(([name, modules]) => ({ name, test: (path) => modules.test(inRepository(path)) })),
  },
  plugins: [withoutEffects],
  // Declarations have the docstrings.
  comments: { jsdoc: false },
  minifyInternalExports: false,
  // Maps tell tests which sources a file holds. The package leaves them out, so no file names its map.
  sourcemap: "hidden",
  sourcemapExcludeSources: true,
});

/** Packages and modules of Node are imported where the built files run. */
const external = /^[^./]/;

const exported = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [entry.default],
);
const threads = [
  "dist/src/device/thread.js",
  "dist/src/device/measure-thread.js",
  "dist/src/testing/foreign/foreign-server.js",
];
const forked = [
  "dist/bench/cold-process.js",
  "dist/bench/isa-dump.js",
  "dist/bench/wgpu-side.js",
  "dist/bench/side-process.js",
  "dist/test/fuzz/worker.js",
];
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
    input: entries([
      "dist/bench/page.js",
      "dist/bench/side-page.js",
      "dist/test/browser/page.js",
      "dist/test/browser/thread.js",
    ]),
    platform: "browser",
    output: output("pages"),
  },
  ...["gpu", "gpu-dynamic", "gpu-scatter", "gpu-scatter-dynamic", "cpu", "cpu-scatter"].map((machine) => ({
    input: `src/module/runtime/${machine}.ts`,
    platform: "neutral" as const,
    // One expression, which `tilec compile --emit module` prints beside a kernel.
    output: {
      file: `dist/module/${machine}.js`,
      format: "iife" as const,
      name: "runtime",
      minify: true,
      comments: false,
      generatedCode: { symbols: false },
    },
  })),
]);
