/** `tilec compile model.onnx --emit module-cpu --out DIR`: a module for each gather, folded where it folds, and an index. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { packageFile } from "../../src/device/package-files.js";
import {
  initializer,
  input,
  model,
  named,
  node,
  onnxTypes,
  output,
  raw,
  text,
} from "../support/onnx-bytes.js";
import { runHere } from "../support/run-here.js";
import type { LoadedModule } from "../support/modules.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("modules");

it("a model becomes a folder of modules, and runs by its index", async () => {
  const file = packageFile("examples/embedding.onnx");
  const out = join(folder, "kernels");
  const bind = "batch=1,sequence=128,chosen=16";
  const words = ["compile", file, "--bind", bind, "--target", "cpu", "--emit", "module-cpu", "--out", out];
  const { status, stderr } = await runHere(words, folder);
  expect(status, stderr).toBe(0);
  const stems = ["embed", "index", "pick_folded", "width"];
  expect(readdirSync(out).sort()).toEqual(stems.flatMap((stem) => [`${stem}.d.ts`, `${stem}.js`]));
  const { embed } = (await import(/* @vite-ignore */ pathToFileURL(join(out, "index.js")).href)) as {
    readonly embed: LoadedModule;
  };
  const data = Float32Array.from({ length: 3000 * 64 }, (_, k) => k);
  const indices = BigInt64Array.from(
    { length: 128 },
    (_, k) => BigInt((k * 977) % 3000) - (k % 2 === 0 ? 0n : 3000n),
  );
  const { outputs } = await (await embed.create()).run({ data, indices });
  const rows = Array.from({ length: 128 }, (_, k) => (k * 977) % 3000);
  expect([...(outputs["output"] as Float32Array)]).toEqual(
    rows.flatMap((row) => Array.from({ length: 64 }, (_, d) => row * 64 + d)),
  );
});

it("has files and exports of their own for functions of any names", async () => {
  const names = ["a", "A", "index", "index_", "class", "default", "__proto__", "then", "0", "x".repeat(300)];
  const file = join(folder, "names.tir");
  writeFileSync(
    file,
    names
      .map((name) => {
        const head = `func @${name}(%output: tensor<3xf32>, %constructor: tensor<2xi32>, %class: tensor<3xf32>)`;
        const map = `(d0) let s = error(%constructor[d0] in 3) yield %output[s] + %class[s] {oob = error}`;
        return `${head} -> tensor<2xf32> {\n  %y = access.gather %output, %constructor, %class ${map}\n  return %y\n}\n`;
      })
      .join(""),
  );
  const out = join(folder, "named");
  const made = await runHere(["compile", file, "--target", "cpu", "--emit", "module-cpu", "--out", out]);
  expect(made.status, made.stderr).toBe(0);
  const lower = readdirSync(out).map((own) => own.toLowerCase());
  expect(new Set(lower).size).toBe(2 * (names.length + 1));
  const modules = (await import(pathToFileURL(join(out, "index.js")).href)) as Readonly<
    Record<string, LoadedModule>
  >;
  expect(Object.keys(modules).sort()).toEqual([...names].sort());
  for (const name of names) {
    const { outputs } = await (
      await modules[name]!.create()
    ).run({
      output: Float32Array.of(1, 2, 3),
      constructor: Int32Array.of(2, 0),
      class: Float32Array.of(10, 20, 30),
    });
    expect(Object.entries(outputs), name).toEqual([["y", Float32Array.of(33, 11)]]);
  }
});

const float = onnxTypes.f32;

/** Of `@rows`, which `@some` reads through its own; `returned`: what the graph returns. */
const chain = (rows: number, ...returned: readonly string[]) =>
  model([
    ...node("Gather", ["table", "ids"], ["rows"], named("rows")),
    ...node("Gather", ["rows", "first"], ["some"], named("some")),
    ...text(2, "g"),
    ...input("table", float, [rows, 4]),
    ...input("ids", onnxTypes.i32, [3]),
    ...initializer("i64", [2], raw([0, 2]), "first"),
    ...returned.flatMap((name) => output(name, float)),
  ]);

/** The modules of a model, and what `plan` compiles of it. */
async function both(contents: Uint8Array, ...flags: readonly string[]) {
  const file = join(folder, "chain.onnx");
  const out = mkdtempSync(join(folder, "out-"));
  writeFileSync(file, contents);
  const made = await runHere(["compile", file, ...flags, "--emit", "module-cpu", "--out", out], folder);
  const planned = await runHere(["plan", file, ...flags, "--json"], folder);
  const { nodes } = JSON.parse(planned.stdout) as {
    readonly nodes: readonly { readonly name: string; readonly status: string }[];
  };
  return {
    made,
    modules: existsSync(join(out, "index.js"))
      ? Object.keys(await import(pathToFileURL(join(out, "index.js")).href))
      : [],
    compiled: nodes.flatMap(({ name, status }) => (status === "compiled" ? [name] : [])),
  };
}

it("writes no module of a gather that another one does the work of", async () => {
  const { modules, compiled, made } = await both(chain(40, "some"));
  expect(made.status, made.stderr).toBe(0);
  expect(compiled).toEqual(["some"]);
  expect(modules).toEqual(["some_folded"]);
});

it("writes both where the graph returns what the first one made", async () => {
  const { modules, compiled } = await both(chain(40, "some", "rows"));
  expect(compiled).toEqual(["rows", "some"]);
  expect(modules).toEqual(["rows", "some_folded"]);
});

it("writes a gather alone where no tile holds it with what stands around it, and says what is refused", async () => {
  // The first gather's table exceeds the unified buffer, and so does what is folded over it.
  const { modules, compiled, made } = await both(chain(60000, "some"));
  expect(made.status, made.stderr).toBe(1);
  expect(made.stderr).toMatch(/^error\[TC4\d+\]/m);
  expect(compiled).toEqual(["some"]);
  expect(modules).toEqual(["some"]);
});

it("refuses one file for several programs, with a way out", async () => {
  const file = packageFile("examples/embedding.onnx");
  const bind = "batch=1,sequence=128,chosen=16";
  const words = ["compile", file, "--bind", bind, "--emit", "module", "--out", join(folder, "one.js")];
  const { status, stderr } = await runHere(words, folder);
  expect(status).toBe(2);
  expect(stderr).toContain("name a folder, or choose one with --func");
});

it.each([
  ["one.js", "one.d.ts"],
  ["one.mjs", "one.d.mts"],
])("writes one module to %s, with its types", async (name, types) => {
  const into = join(folder, name.replace(".", "-"));
  mkdirSync(into);
  const gather = ["--op", "gather", "--data", "f32[4,2]", "--indices", "i32[3]", "--axis", "0"];
  const words = ["compile", ...gather, "--emit", "module-cpu", "--target", "cpu", "--out", join(into, name)];
  const { status, stderr } = await runHere(words, folder);
  expect(status, stderr).toBe(0);
  expect(readdirSync(into).sort()).toEqual([types, name].sort());
  const made = (await import(/* @vite-ignore */ pathToFileURL(join(into, name)).href)) as LoadedModule;
  const data = Float32Array.of(0, 1, 10, 11, 20, 21, 30, 31);
  const { outputs } = await (await made.create()).run({ data, indices: Int32Array.of(2, 0, 3) });
  expect([...(outputs["output"] as Float32Array)]).toEqual([20, 21, 0, 1, 30, 31]);
});

it("a scatter of a model whose tokens are open becomes a module that takes their number", async () => {
  const file = join(folder, "tokens.onnx");
  writeFileSync(
    file,
    model(
      [
        ...node("ScatterND", ["cache", "slots", "rows"], ["written"], named("write")),
        ...text(2, "g"),
        ...input("cache", float, [5, 2]),
        ...input("slots", onnxTypes.i64, ["tokens", 1]),
        ...input("rows", float, ["tokens", 2]),
        ...output("written", float),
      ],
      18,
    ),
  );
  const out = join(folder, "tokens.mjs");
  const flags = ["--most", "tokens=4", "--target", "cpu", "--emit", "module-cpu", "--out", out];
  const { status, stderr } = await runHere(["compile", file, ...flags], folder);
  expect(status, stderr).toBe(0);
  const made = await ((await import(/* @vite-ignore */ pathToFileURL(out).href)) as LoadedModule).create();
  const data = Float32Array.from({ length: 10 }, (_, k) => k);
  for (const slots of [[3], [0, 4, 2], [1, 1, -1, 3]]) {
    const updates = Float32Array.from({ length: 2 * slots.length }, (_, k) => 100 + k);
    const inputs = { data, indices: BigInt64Array.from(slots.map(BigInt)), updates };
    const { outputs } = await made.run(inputs, { TOKENS: slots.length });
    const expected = data.slice();
    slots.forEach((slot, k) => {
      expected.set(updates.subarray(2 * k, 2 * k + 2), 2 * (slot < 0 ? slot + 5 : slot));
    });
    expect(outputs["output"]).toEqual(expected);
  }
});
