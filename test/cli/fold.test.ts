/** `--fold`: gathers are folded with what stands around them where one kernel takes less than several, and where a device binds it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRunner, defaultLimits } from "../../backends/webgpu/index.js";
import { targets } from "../../ir/index.js";
import { listGathers } from "../../src/cli/list-model.js";
import { loadModel } from "../../src/cli/load-model.js";
import { isSeparateProgram, placePrograms } from "../../src/cli/place-programs.js";
import { noProject } from "../../src/config/project.js";
import { packageFile } from "../../src/device/package-files.js";
import { findGathers, readModel, readTensor } from "../../src/formats/onnx/index.js";
import { requireGpu } from "../support/gpu.js";
import { loadModule, type LoadedModule } from "../support/modules.js";
import {
  initializer,
  input,
  intsAttribute,
  model,
  named,
  node,
  onnxTypes,
  output,
  raw,
  text,
} from "../support/onnx-bytes.js";
import { runHere } from "../support/run-here.js";
import { tokenModel } from "../support/token-model.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("fold");

let count = 0;
function fileOf(contents: Uint8Array): string {
  const file = join(folder, `m${++count}.onnx`);
  writeFileSync(file, contents);
  return file;
}

interface Planned {
  readonly name: string;
  readonly status: string;
  readonly into?: readonly string[];
  readonly reason?: string;
  readonly cycles?: number;
  readonly fold?: {
    readonly taken: boolean;
    readonly folded: number;
    readonly separate: number;
    readonly launch: number;
  };
  readonly module?: string;
}

async function planOf(file: string, ...flags: readonly string[]): Promise<readonly Planned[]> {
  const { status, stdout, stderr } = await runHere(["plan", file, "--json", ...flags]);
  expect(status, stderr).toBe(0);
  return (JSON.parse(stdout) as { readonly nodes: readonly Planned[] }).nodes;
}

const brief = (nodes: readonly Planned[]): readonly string[] =>
  nodes.map(({ name, status, into }) => `${name} ${status}${into === undefined ? "" : ` ${into.join()}`}`);

const tokensAndPlaces = (tokens: number): string => fileOf(tokenModel(tokens));

const onWebgpu = ["--target", "webgpu"];

describe("a fold that takes more cycles than its parts", () => {
  it.for([64, 512])("is left out at %i tokens, with both numbers", async (tokens) => {
    const file = tokensAndPlaces(tokens);
    const nodes = await planOf(file, ...onWebgpu);
    expect(brief(nodes)).toEqual(["tok compiled", "pos compiled", "sum folded tok"]);
    const [tok, pos] = nodes;
    const { launchCycles: launch } = targets.webgpu;
    // What is left apart: the kernel of the 4-bit rows, and that of the sum which reads them.
    const separate = tok!.cycles! + pos!.cycles! + 2 * launch;
    expect(pos!.fold).toMatchObject({ taken: false, separate, launch });
    expect(pos!.reason).toContain('Add "sum" reads it as a tensor');
    const [whole, ...folded] = await planOf(file, ...onWebgpu, "--fold", "always");
    expect(brief(folded)).toEqual(["pos folded tok", "sum folded tok"]);
    expect(pos!.fold!.folded).toBe(whole!.cycles! + launch);
    expect(pos!.fold!.folded).toBeGreaterThan(separate);
    const shown = await runHere(["plan", file, ...onWebgpu]);
    for (const number of [pos!.fold!.folded, separate])
      expect(shown.stdout).toContain(number.toLocaleString("en"));
  });

  it("is each policy's own, and names the modules that are written", async () => {
    const file = tokensAndPlaces(64);
    for (const [fold, modules] of [
      ["cost", ["tok_folded.js", "pos.js"]],
      ["always", ["tok_folded.js"]],
      ["never", ["tok.js", "pos.js"]],
    ] as const) {
      const flags = [...onWebgpu, "--fold", fold];
      const planned = (await planOf(file, ...flags)).flatMap((own) => own.module ?? []);
      expect(planned).toEqual(modules);
      const out = join(folder, fold);
      const made = await runHere(["compile", file, ...flags, "--emit", "module", "--out", out]);
      expect(made.status, made.stderr).toBe(0);
      const index = readFileSync(join(out, "index.js"), "utf8");
      expect([...index.matchAll(/"\.\/(.*)"/g)].map(([, name]) => name)).toEqual(modules);
      expect((await runHere(["plan", file, ...flags])).stdout).toMatch(
        new RegExp(modules.map((name) => `^\\d  ${name}`).join("[^]*"), "m"),
      );
      // Every text is that of the programs which modules are made from, for the device too where no target is named.
      for (const own of [flags, ["--fold", fold]]) {
        const wgsl = await runHere(["compile", file, ...own, "--emit", "wgsl"]);
        expect(wgsl.status, wgsl.stderr).toBe(0);
        expect([...wgsl.stdout.matchAll(/^\/\/ @(\w+)\(/gm)].map(([, name]) => `${name ?? ""}.js`)).toEqual(
          modules,
        );
      }
      const listed = await runHere(["run", file, ...flags, "--json"]);
      const { gathers } = JSON.parse(listed.stdout) as { gathers: readonly { readonly name: string }[] };
      expect(gathers.map(({ name }) => name).includes("tok_folded")).toBe(fold !== "never");
    }
  });

  it("is named by --func as the policy makes it", async () => {
    const file = tokensAndPlaces(64);
    const words = ["compile", file, "--func", "tok_folded", "--emit", "wgsl", ...onWebgpu];
    const inputs = async (...flags: readonly string[]) =>
      /@tok_folded\((.*)\)/.exec((await runHere([...words, ...flags])).stdout)?.[1]?.match(/%\w+/g);
    expect(await inputs()).toEqual(["%wte", "%ids", "%pos", "%output"]);
    expect(await inputs("--fold", "always")).toEqual(["%wte", "%ids", "%wq", "%ws", "%output"]);
    const refused = await runHere([...words, "--fold", "never"]);
    expect([refused.status, refused.stderr]).toEqual([
      2,
      expect.stringContaining("has no gather tok_folded"),
    ]);
  });

  it("is weighed by the library for a target, and without one folded as far as it goes", () => {
    const read = readModel(readFileSync(tokensAndPlaces(64)), "m.onnx");
    const foldsOf = (
      ...folding: Parameters<typeof findGathers> extends [unknown, unknown?, ...infer F] ? F : never
    ) =>
      findGathers(read, {}, ...folding).map((gather) =>
        gather.ok ? (gather.folded?.nodes.map(({ name }) => name) ?? []) : undefined,
      );
    const all = [["tok", "pos", "sum"], []];
    expect(foldsOf()).toEqual(all);
    expect(foldsOf({ target: targets.webgpu })).toEqual([["tok", "sum"], []]);
    expect(foldsOf({ target: "webgpu", fold: "always" })).toEqual(all);
    expect(foldsOf({ target: "webgpu", fold: "never" })).toEqual([[], []]);
  });

  it.for([
    ["explain", packageFile("examples/sort-columns.tir"), "--fold", "never"],
    ["plan", tokensAndPlaces(4), "--fold", "sometimes"],
  ])("refuses %j", async (words) => {
    expect((await runHere(words)).status).toBe(2);
  });
});

describe("a sum of more tables than a stage binds", () => {
  const file = packageFile("test/cli/inputs/jsgrad82-sum6.onnx");
  const numbers = [0, 1, 2, 3, 4, 5];
  const ids = (k: number): BigInt64Array =>
    BigInt64Array.from({ length: 5 }, (_, j) => BigInt(((3 * k + 2 * j) % 14) - 7));

  it("is folded as far as the device binds it, and says so", async () => {
    const nodes = await planOf(file, ...onWebgpu);
    expect(brief(nodes)).toEqual([
      "g0 compiled",
      "g1 folded g0",
      "s1 folded g0",
      "g2 folded g0",
      "s2 folded g0",
      "g3 compiled",
      "s3 folded g3",
      "g4 folded g3",
      "s4 folded g3",
      "g5 compiled",
      "s5 folded g3",
    ]);
    expect(nodes.map(({ reason = "" }) => reason).join()).toContain(
      "over the device's maxStorageBuffersPerShaderStage of 8",
    );
    const wide = await planOf(file, ...onWebgpu, "--limits", "maxStorageBuffersPerShaderStage=14");
    expect(wide.filter(({ status }) => status === "compiled").map(({ name }) => name)).toEqual(["g0"]);
  });

  it.for(["cost", "always", "never"])(
    "gives the sum on the limits of every device: --fold %s",
    async (fold, context) => {
      const gpu = await requireGpu({ limits: "default" });
      if (gpu === undefined) context.skip();
      const out = join(folder, `sum-${fold}`);
      const made = await runHere([
        "compile",
        file,
        ...onWebgpu,
        "--fold",
        fold,
        "--emit",
        "module",
        "--out",
        out,
      ]);
      expect(made.status, made.stderr).toBe(0);
      const { graph } = readModel(readFileSync(file), file);
      const table = (k: number): Float32Array => {
        const tensor = graph.initializers.get(`w${k}`);
        const { bytes } = readTensor(tensor!, "w");
        return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
      };
      const rows = numbers.map((k) =>
        Float32Array.from({ length: 20 }, (_, at) => {
          const id = Number(ids(k)[Math.floor(at / 4)]);
          return table(k)[4 * (id < 0 ? id + 7 : id) + (at % 4)]!;
        }),
      );
      const expected = rows.reduce((sum, row) => sum.map((value, at) => value + row[at]!));
      /** Tensors of the model by their names: what is known, and what modules make. */
      const tensors = new Map<string, Float32Array | BigInt64Array>(
        numbers.flatMap((k) => [[`w${k}`, table(k)] as const, [`i${k}`, ids(k)] as const]),
      );
      const modules = (await import(pathToFileURL(join(out, "index.js")).href)) as Record<
        string,
        LoadedModule
      >;
      const listed = await runHere(["run", file, ...onWebgpu, "--fold", fold, "--json"]);
      const { gathers } = JSON.parse(listed.stdout) as {
        readonly gathers: readonly {
          name: string;
          reads?: Record<string, string>;
          folds?: readonly string[];
        }[];
      };
      const waiting = new Set(Object.keys(modules));
      while (waiting.size > 0) {
        const [name] = [...waiting].filter((own) => {
          const { reads = {} } = gathers.find((gather) => gather.name === own)!;
          return Object.values(reads).every((tensor) => tensors.has(tensor));
        });
        expect(name, "a module whose inputs are made").toBeDefined();
        waiting.delete(name!);
        const { reads, folds } = gathers.find((gather) => gather.name === name)!;
        const k = name!.slice(1, 2);
        const inputs = reads === undefined ? { data: `w${k}`, indices: `i${k}` } : reads;
        const gather = await modules[name!]!.create(gpu!.device);
        const { outputs } = await gather.run(
          Object.fromEntries(Object.entries(inputs).map(([key, tensor]) => [key, tensors.get(tensor)!])),
        );
        gather.dispose();
        const end = folds === undefined ? `g${k}` : /"(\w+)"$/.exec(folds.at(-1)!)![1]!;
        tensors.set(end, outputs["output"] as Float32Array);
      }
      if (fold === "never")
        for (const k of numbers) expect([...tensors.get(`g${k}`)!]).toEqual([...rows[k]!]);
      else expect([...tensors.get("s5")!]).toEqual([...expected]);
    },
  );
});

/** A model: gathers of tables, each behind the next, with views and arithmetic between them. */
const models = fc
  .array(
    fc.record({
      op: fc.constantFrom("Add", "Mul", "Max", "chain", "GatherElements"),
      view: fc.constantFrom("none", "Transpose", "Reshape"),
      fresh: fc.boolean(),
    }),
    { minLength: 2, maxLength: 8 },
  )
  .map((steps) => {
    const nodes: number[] = [];
    const inputs: number[] = [];
    let made = "";
    steps.forEach(({ op, view, fresh }, k) => {
      const ids = fresh || k === 0 ? `i${k}` : "i0";
      if (ids === `i${k}`) inputs.push(...input(ids, onnxTypes.i32, [6, 8]));
      inputs.push(...input(`w${k}`, onnxTypes.f32, [6, 8]));
      const from = op === "chain" && made !== "" ? made : `w${k}`;
      nodes.push(...node("GatherElements", [from, ids], [`g${k}`], named(`g${k}`)));
      let out = `g${k}`;
      if (view === "Transpose")
        nodes.push(
          ...node("Transpose", [out], [`u${k}`], intsAttribute("perm", [1, 0])),
          ...node("Transpose", [`u${k}`], [`v${k}`], [...intsAttribute("perm", [1, 0]), ...named(`v${k}`)]),
        );
      if (view === "Reshape")
        nodes.push(
          ...initializer("i64", [2], raw([48, 1]), `flat${k}`),
          ...initializer("i64", [2], raw([6, 8]), `back${k}`),
          ...node("Reshape", [out, `flat${k}`], [`u${k}`], named(`u${k}`)),
          ...node("Reshape", [`u${k}`, `back${k}`], [`v${k}`], named(`v${k}`)),
        );
      if (view !== "none") out = `v${k}`;
      if (op === "chain" || op === "GatherElements" || made === "") made = out;
      else {
        nodes.push(...node(op, [made, out], [`s${k}`], named(`s${k}`)));
        made = `s${k}`;
      }
    });
    return model([...nodes, ...text(2, "g"), ...inputs, ...output(made, onnxTypes.f32)]);
  });

it("what plan calls compiled for webgpu is created on the limits that every device has, whatever folds", async (context) => {
  const gpu = await requireGpu({ limits: "default" });
  if (gpu === undefined) context.skip();
  const runner = await createRunner(gpu!.device);
  expect(runner.limits).toEqual(defaultLimits);
  let stopped = 0;
  await fc.assert(
    fc.asyncProperty(models, fc.constantFrom("cost", "always", "never"), async (contents, fold) => {
      const flags = { project: noProject, target: "webgpu", fold };
      const { gathers, uses } = loadModel(fileOf(contents), flags, { target: targets.webgpu });
      const listed = listGathers(gathers, flags, {});
      const { chosen, placed } = placePrograms(uses, listed);
      for (const found of chosen.values()) {
        const { kernel, kept = [] } = found.listed;
        expect(found.refused).toBeUndefined();
        if (kept.some((why) => why.includes("storage buffers"))) stopped++;
        if (kernel === undefined || !isSeparateProgram(found, placed)) continue;
        await runner.prepare(kernel);
        (await (await loadModule(kernel)).create(gpu!.device)).dispose();
      }
    }),
    { numRuns: 12, seed: 5 },
  );
  // Some fold met the limit.
  expect(stopped).toBeGreaterThan(0);
});
