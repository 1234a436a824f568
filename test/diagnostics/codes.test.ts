import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRunner, defaultLimits, emitWgsl } from "../../backends/webgpu/index.js";
import { referenceOfMap } from "../../backends/reference/index.js";
import { simulateChecked } from "../../backends/sim/index.js";
import { codes, error, parseModule, type Code, type Diagnostic } from "../../ir/index.js";
import {
  compile,
  run,
  firstDifference,
  gather,
  gatherElements,
  runOn,
  targets,
  toHost,
  tryCompile,
  type BackendChoice,
} from "../../src/index.js";
import { explain } from "../../src/api/explain.js";
import { verdictHints, verdictOn } from "../../src/api/inputs-verdict.js";
import { ConfigError } from "../../src/config/config-error.js";
import { openProject } from "../../src/config/open-project.js";
import { readBytes } from "../../src/formats/files.js";
import { readCases } from "../../src/formats/cases.js";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { dumpedGathers } from "../../src/formats/pypto-dump.js";
import { findGathers, readModel } from "../../src/formats/onnx/index.js";
import { readSpatter } from "../../src/formats/spatter.js";
import { parseTargetFile } from "../../src/formats/target-file.js";
import { parseType } from "../../src/cli/options.js";
import { acquireGpu } from "../../src/device/node.js";
import { missingPeer } from "../../src/api/missing-peer.js";
import { foreignKernel } from "../../src/testing/index.js";
import { parseRecords } from "../../src/tune/index.js";
import { ofAnotherTask } from "../../src/tune/records/replay.js";
import { timed } from "../../src/tune/timed.js";
import { parseMeasurements } from "../../src/validation/measurement.js";
import { input, intsAttribute, model, node, onnxTypes, output } from "../support/onnx-bytes.js";
import { requireGpu } from "../support/gpu.js";
import { operandOf } from "../support/operands.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { refusals, rejections } from "../support/refusal.js";
import { parsed, parsedTile } from "../support/parsed.js";

const parse = (text: string) => parseModule(text, "t.tir").diagnostics;
/** Writes two elements by their indices, by the definition of the statement. */
function scattered(duplicates: string, indices: readonly [number, number]): Uint8Array {
  const { module } = parseModule(
    `func @f(%x: tensor<4xi32>, %i: tensor<2xi32>) -> tensor<4xi32> {
  %y = access.scatter %x, %i (d0 < 2) -> (%i[d0]) yield %i[d0] {oob = error, duplicates = ${duplicates}}
  return %y
}
`,
    "t.tir",
  );
  const [func] = module.funcs;
  if (func?.level !== "access") return fail();
  const { operands, map } = func;
  const [x, i] = operands.map(({ type }) => type);
  return referenceOfMap(map, operands, {
    x: toHost("x", x!, new Int32Array(4)),
    i: toHost("i", i!, Int32Array.from(indices)),
  });
}

/** Compiles each function of a text; `schedule` and all. */
const build = (text: string): Diagnostic[] => {
  const { module, diagnostics } = parseModule(text, "t.tir");
  return [
    ...diagnostics,
    ...module.funcs.flatMap((func) => {
      const result = tryCompile(func);
      return result.ok ? [...result.kernel.diagnostics] : [...result.diagnostics];
    }),
  ];
};

const source = (
  op: string,
  schedule = "",
  data = "3x5xf32",
  indices = "3x4xi32",
  output = "3x4xf32",
): string =>
  `func @g(%x: tensor<${data}>, %i: tensor<${indices}>) -> tensor<${output}> target("ascend-a2") schedule {${schedule}} {
  %y = ${op}
  return %y
}
`;
const pyptoGather = "pypto.gather %x, %i {dim = 0}";
const packedRows = "access.gather %x, %i (d0, d1) yield f32(%x[error(%i[d0] in 5), d1]) {oob = error}";
const tile = (body: string): string =>
  `func @g(%x: gm<4xf32>, %i: gm<2xi32>, %y: gm<2xf32>) target("ascend-a2") {\n${body}}\n`;
const allocs = (x: number, i: number, y: number): string =>
  `  %a = alloc : ub<4xf32, row 32> at [${x}]
  %b = alloc : ub<2xi32, row 32> at [${i}]
  %c = alloc : ub<2xf32, row 32> at [${y}]
`;
const load = "  load %x[0][4] to %a\n  load %i[0][2] to %b\n";
const gatherStmt = "  gather %a[0][4], %b[0][2] to %c[0][2] (d0) -> (%b[d0]) {oob = error, origin = [0]}\n";
const store = "  store %c to %y[0][2]\n";
const sync = (from: string, to: string): string => `  sync ${from} -> ${to}\n`;
const whole = allocs(0, 32, 64) + load + sync("MTE2", "V") + gatherStmt + sync("V", "MTE3") + store;

/** Runs a hand-written tile program on the checked executor without asking the verifier first. */
const trap = (body: string, indices = [1, 3]): readonly Diagnostic[] =>
  refusals(() => {
    const func = parsedTile(tile(body));
    const inputs = {
      data: toHost("data", operandOf(func, "data").type, Float32Array.of(1, 2, 3, 4)),
      indices: toHost("indices", operandOf(func, "indices").type, Int32Array.from(indices)),
    };
    return simulateChecked(func, inputs, targets.ascendA2);
  });

/** What a run of `fine` rejects with. */
function ofRun(backend: BackendChoice): Promise<readonly Diagnostic[]> {
  const kernel = compile(fine);
  const inputs = {
    data: toHost("data", operandOf(kernel.tile, "data").type, new Float32Array(4)),
    indices: toHost("indices", operandOf(kernel.tile, "indices").type, new Int32Array(2)),
  };
  return rejections(() => runOn(backend, kernel, inputs));
}

const onBackend = (output: Uint8Array): Promise<readonly Diagnostic[]> =>
  ofRun({
    name: "mine",
    prepare: () => ({ run: () => Promise.resolve({ output }), release: () => undefined }),
  });

/** What a shader of one's own is found to do, with a word of three masked or not. */
const onForeign = async (mask: string): Promise<readonly Diagnostic[]> => {
  if ((await requireGpu()) === undefined) return mask === "" ? [error("TC612", "no device")] : [];
  const wgsl = `@group(0) @binding(0) var<storage, read> x: array<u32>;
    @group(0) @binding(1) var<storage, read> i: array<u32>;
    @group(0) @binding(2) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) { ${mask} y[id.x] = x[i[id.x]]; }`;
  const mine = foreignKernel({ wgsl, bind: { data: 0, indices: 1, output: 2 }, dispatch: "1" });
  const op = gather({ data: ["f32", [4]], indices: ["i32", [3]], axis: 0 });
  const inputs = { data: new Float32Array(4), indices: new Int32Array(3) };
  return rejections(() => run(compile(op), inputs, { backend: mine }));
};

/** What is wrong with a config of this text. */
async function config(text: string): Promise<readonly Diagnostic[]> {
  const file = join(folder, "tilec.config.json");
  writeFileSync(file, text);
  const thrown: unknown = await openProject(file).catch((error: unknown) => error);
  return thrown instanceof ConfigError ? thrown.diagnostics : [];
}

interface Trigger {
  readonly found: () => readonly Diagnostic[] | Promise<readonly Diagnostic[]>;
  /** Line and column of the guilty text, where the diagnostic has a place. */
  readonly at?: readonly [line: number, column: number];
  /** The same with the hint followed: the code is gone. */
  readonly followed?: Trigger["found"];
}

const fine = gather({ data: ["f32", [4]], indices: ["i32", [2]], axis: 0 });
/** Two copies of a slab that its one task loads once. */
const doubled = (buffers: 1 | 2) =>
  compile(fine, { target: targets.ascendA2, buffers: { data: buffers } }).diagnostics;
const folder = scratchFolder("codes");
const big = (options: object = {}) =>
  explain(gather({ data: ["f32", [64, 16]], indices: ["i64", [8]], axis: 0 }), options);

const wrapped = (rows: number) =>
  gatherElements({ data: ["f32", [rows, 160]], indices: ["i64", [64, 160]], axis: 0, oob: "wrap" });

const wide = (options: object) =>
  explain(gather({ data: ["f32", [64, 1600]], indices: ["i32", [8]], axis: 0 }), options);

const sized = (bind: Record<string, number>) =>
  refusals(() => {
    const text =
      "dim V <= 8 dim N <= 4\nfunc @g(%x: tensor<Vx2xf32>, %i: tensor<Nxi32>) -> tensor<Nx2xf32> " +
      "{ %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error} return %y }";
    for (const func of parseModule(text, "t.tir").module.funcs) compile(func, { bind });
  });

const triggers: Readonly<Record<Code, Trigger>> = {
  TC001: { found: () => parse("func @g($"), at: [1, 9], followed: () => parse(source(pyptoGather)) },
  TC002: { found: () => parse("func g"), at: [1, 6], followed: () => parse(source(pyptoGather)) },
  TC003: {
    found: () => build(source("pypto.scattered %x, %i")),
    at: [2, 8],
    followed: () => build(source(pyptoGather)),
  },
  TC010: { found: () => refusals(() => readBytes(join(folder, "none"))) },
  TC011: { found: () => refusals(() => readNpy(Uint8Array.of(1, 2, 3), "x.npy")) },
  TC012: {
    // A string tensor has no .npy form.
    found: () =>
      refusals(() =>
        writeNpy({ type: { dtype: "string", shape: [1] }, bytes: new Uint8Array(), strings: ["a"] }),
      ),
  },
  TC013: { found: () => refusals(() => readCases('{"schema": 1, "cases": {}}', "c.json")) },
  TC014: { found: () => refusals(() => readModel(Uint8Array.of(255, 255), "m.onnx")) },
  TC015: { found: () => refusals(() => parseTargetFile("{}", "t.json")) },
  TC016: { found: () => refusals(() => parseRecords('{"record": "guess"}', "r.jsonl")) },
  TC017: { found: () => [ofAnotherTask("r.jsonl", "g")] },
  TC018: {
    found: () => config('{ "pases": [] }'),
    at: [1, 12],
    followed: () => config('{ "passes": [] }'),
  },
  TC019: { found: () => refusals(() => parseMeasurements('[{"id": "a"}]', "m.json")) },
  TC020: {
    found: () => refusals(() => dumpedGathers({ version: "2.0", functions: [{}] }, "After.json")),
  },
  TC021: { found: () => refusals(() => readSpatter("{}", "amg.json")) },
  TC101: {
    found: () => build(source("pypto.gather %x, %i {dim = 2}")),
    at: [2, 8],
    followed: () => build(source("pypto.gather %x, %i {dim = 1}", "profile = head", "3x5xf32", "3x4xi32")),
  },
  TC102: { found: () => build(source(pyptoGather, "", "3x5xf32", "4xi32", "4xf32")), at: [2, 8] },
  TC103: { found: () => build(source(pyptoGather, "", "3x5xf32", "3x6xi32", "3x6xf32")), at: [2, 8] },
  TC104: { found: () => build(source(pyptoGather, "", "3x5xf64", "3x4xi32", "3x4xf64")), at: [2, 8] },
  TC105: {
    found: () => build(source("pypto.gather %x, %i {axis = 0}")),
    at: [2, 8],
    followed: () => build(source(pyptoGather)),
  },
  TC106: {
    found: () =>
      build(source("onnx.gather %x, %i", "", "65536x65536x65536xf32", "3xi32", "3x65536x65536xf32")),
    at: [2, 8],
  },
  TC107: {
    found: () => sized({}),
    at: [2, 1],
    followed: () => sized({ V: 8, N: 0 }),
  },
  TC201: { found: () => build(tile("  load %x[0][5] to %a\n")), at: [2, 3] },
  TC202: {
    found: () => build(tile(whole.replace("at [32]", "at [0]"))),
    at: [1, 1],
    followed: () => build(tile(whole.replaceAll(/ at \[\d+\]/g, "").replaceAll(/ +sync.*\n/g, ""))),
  },
  TC203: {
    found: () => build(tile(whole.replace(sync("V", "MTE3"), ""))),
    at: [9, 3],
    followed: () => build(tile(whole)),
  },
  TC204: {
    found: () => build(source("access.gather %x, %i (d0, d1) -> (%i[d0, d1], d1 + 2) {oob = error}")),
    at: [2, 8],
    followed: () =>
      build(source("access.gather %x, %i (d0, d1) -> (%i[d0, d1], error(d1 + 2 in 5)) {oob = error}")),
  },
  TC205: {
    found: () => build(source("access.gather %x, %i (d0, d1) yield %x[%i[d0, d1], d1] * 0.1 {oob = error}")),
    at: [2, 65],
    followed: () =>
      build(source("access.gather %x, %i (d0, d1) yield %x[%i[d0, d1], d1] * 0x3dcccccd {oob = error}")),
  },
  TC301: {
    found: () => build(source(pyptoGather, "tile = [2, 4]")),
    at: [2, 8],
    followed: () => build(source(pyptoGather, "tile = [3, 4]")),
  },
  TC302: {
    found: () => build(source(pyptoGather, "tile = [3, 0]")),
    at: [2, 8],
    followed: () => build(source(pyptoGather, "tile = [3, 1]")),
  },
  TC303: {
    found: () => build(source(pyptoGather, "order = [1, 1]")),
    at: [2, 8],
    followed: () => build(source(pyptoGather, "order = [0, 1]")),
  },
  TC304: {
    found: () => build(source(packedRows, "tile = [3, 3]", "5x8xu4", "3xi32", "3x8xf32")),
    at: [2, 8],
    followed: () => build(source(packedRows, "tile = [3, 4]", "5x8xu4", "3xi32", "3x8xf32")),
  },
  TC401: {
    found: () => build(source(pyptoGather, "tile = [1024, 64]", "1024x64xf32", "1024x64xi32", "1024x64xf32")),
    at: [2, 8],
    followed: () =>
      build(source(pyptoGather, "tile = [1024, 8]", "1024x64xf32", "1024x64xi32", "1024x64xf32")),
  },
  TC402: {
    found: () => build(source(pyptoGather, "", "4096x64xf32", "4096x64xi32", "4096x64xf32")),
    at: [2, 8],
    followed: () => build(source(pyptoGather, "profile = head", "4096x64xf32", "4096x64xi32", "4096x64xf32")),
  },
  TC403: {
    found: () => build(source(pyptoGather, "residency = gm")),
    at: [2, 8],
    followed: () => build(source(pyptoGather, "residency = ub")),
  },
  TC501: {
    found: () => build(source(pyptoGather).replace("ascend-a2", "h100")),
    at: [1, 1],
    followed: () => build(source(pyptoGather)),
  },
  TC502: {
    found: () =>
      refusals(() =>
        emitWgsl(compile(fine, { target: targets.webgpu }).tile, {
          limits: { ...defaultLimits, maxStorageBufferBindingSize: 15 },
        }),
      ),
    followed: () =>
      refusals(() =>
        emitWgsl(compile(fine, { target: targets.webgpu }).tile, {
          limits: { ...defaultLimits, maxStorageBufferBindingSize: 16 },
        }),
      ),
  },
  TC503: {
    found: () => ofRun("webgpu"),
  },
  TC504: {
    found: async () => {
      const found = await acquireGpu();
      // Without a device there is none to lose; CI has one.
      if (!found.ok) throw new Error(`no WebGPU device: ${found.problem.message}`);
      found.gpu.device.destroy();
      await found.gpu.device.lost;
      return rejections(() => createRunner(found.gpu.device));
    },
  },
  TC505: {
    found: () => refusals(() => compile(fine, { target: targets.webgpu }).pto()),
    followed: () => refusals(() => compile(fine, { target: targets.ascendA2 }).pto()),
  },
  TC506: {
    found: async () => {
      const subject = { run: () => undefined, poison: () => undefined, output: () => new Uint8Array() };
      const late = await timed(subject, new Uint8Array(), { samples: 1, limitMs: -1 });
      return late.status === "measured" ? [] : [error(late.code, late.reason)];
    },
  },
  TC601: {
    found: () => trap(whole, [1, 4]),
    followed: () => trap(whole.replace("oob = error", "oob = clamp"), [1, 4]),
  },
  TC602: { found: () => trap(whole.replace("load %x[0][4]", "load %x[0][3]")), followed: () => trap(whole) },
  TC603: { found: () => trap(whole.replace("load %x[0][4]", "load %x[0][5]")), followed: () => trap(whole) },
  TC604: { found: () => trap(whole.replace(sync("MTE2", "V"), "")), followed: () => trap(whole) },
  TC605: { found: () => trap(whole.replace("at [64]", "at [0]")), followed: () => trap(whole) },
  TC606: { found: () => trap(whole.replace(store, "  store %c to %y[0][1]\n")), followed: () => trap(whole) },
  TC607: {
    found: () => refusals(() => scattered("error", [1, 1])),
    followed: () => refusals(() => scattered("last", [1, 1])),
  },
  TC610: {
    found: () => [
      firstDifference(
        { backend: "a", output: Uint8Array.of(1) },
        { backend: "b", output: Uint8Array.of(2) },
      ) ?? fail(),
    ],
  },
  TC611: {
    found: () => onBackend(new Uint8Array(7)),
    followed: () => onBackend(new Uint8Array(8)),
  },
  TC612: {
    found: () => onForeign(""),
    followed: () => onForeign("if (id.x >= 3u) { return; }"),
  },
  TC701: {
    found: () => refusals(() => parseType("f32[a]", "data")),
    followed: () => refusals(() => void parseType("f32[4]", "data")),
  },
  TC702: {
    found: () => refusals(() => toHost("data", { dtype: "f32", shape: [4] }, new Float32Array(3))),
  },
  TC703: { found: () => [missingPeer("charts")] },
  TC901: {
    found: () => wide({ tile: [2, 8] }).diagnostics,
    followed: () => wide({ tile: [8, 512] }).diagnostics,
  },
  TC902: {
    found: () => big({ tile: [8, 16] }).diagnostics,
    followed: () => big({ tile: [8, 16], cores: 1 }).diagnostics,
  },
  TC903: {
    found: () => wide({ tile: [2, 8], order: [0, 1] }).diagnostics,
    followed: () => wide({ tile: [8, 680], order: [0, 1] }).diagnostics,
  },
  TC904: {
    found: () => explain(wrapped(60)).diagnostics,
    followed: () => explain(wrapped(64)).diagnostics,
  },
  TC905: {
    found: () => build(source(pyptoGather, "tile = [2047, 8]", "2047x8xf32", "2047x8xi32", "2047x8xf32")),
    at: [2, 8],
    followed: () => build(source(pyptoGather, "tile = [1024, 8]", "1024x8xf32", "1024x8xi32", "1024x8xf32")),
  },
  TC906: {
    found: () => build(source(pyptoGather, "tile = [3, 9]")),
    at: [2, 8],
    followed: () => build(source(pyptoGather, "tile = [3, 4]")),
  },
  TC907: {
    found: () => build(source("onnx.gather %x, %i", "residency = auto", "3x5xf32", "4xi32", "4x5xf32")),
    at: [2, 8],
    followed: () => build(source("onnx.gather %x, %i", "residency = ub", "3x5xf32", "4xi32", "4x5xf32")),
  },
  TC908: {
    found: () => doubled(2),
    followed: () => doubled(1),
  },
  TC909: {
    found: () => inPages(24),
    followed: () => [...inPages(16), ...inPages(32), ...inPages(8)],
  },
  TC910: { found: () => reduced("ReduceSum"), followed: () => reduced("ReduceMax") },
  TC911: {
    found: () => build(source(pyptoGather, "profile = head", "3x5xi8", "3x4xi32", "3x4xi8")),
    at: [2, 8],
    followed: () => build(source(pyptoGather, "profile = head", "3x5xi16", "3x4xi32", "3x4xi16")),
  },
  TC912: { found: () => onCore(2 ** -130), followed: () => onCore(2 ** -126) },
  TC913: {
    found: () => build(source(pyptoGather, "rotate = on")),
    at: [2, 8],
    followed: () => build(source(pyptoGather, "rotate = off")),
  },
};

/** The hints about a row of ones by a factor, on an Ascend core. */
function onCore(factor: number): readonly Diagnostic[] {
  const text = `func @f(%x: tensor<2x4xf32>, %s: tensor<2xf32>, %i: tensor<1xi32>) -> tensor<1x4xf32> {
  %y = access.gather %x, %s, %i (d0, d1) let t = error(%i[d0] in 2) yield %x[t, d1] * %s[t] {oob = error}
  return %y
}`;
  const func = parsed(text);
  const kernel = compile(func);
  const host = (list: Float32Array | Int32Array, shape: number[]) => ({
    type: { dtype: list instanceof Int32Array ? ("i32" as const) : ("f32" as const), shape },
    bytes: new Uint8Array(list.buffer),
  });
  const verdict = verdictOn(kernel, {
    x: host(new Float32Array(8).fill(1), [2, 4]),
    s: host(new Float32Array(2).fill(factor), [2]),
    i: host(new Int32Array(1), [1]),
  });
  return verdict === undefined ? [] : verdictHints(verdict);
}

/** The hints about a gather and what is made of its rows. */
function reduced(op: string): readonly Diagnostic[] {
  const graph = [
    ...input("x", onnxTypes.f32, [4, 6]),
    ...input("ids", onnxTypes.i64, [3]),
    ...node("Gather", ["x", "ids"], ["g"]),
    ...node(op, ["g"], ["y"], intsAttribute("axes", [0])),
    ...output("y", onnxTypes.f32, [1, 6]),
  ];
  return findGathers(readModel(model(graph, 11), "m.onnx")).flatMap((gather) =>
    gather.ok ? (gather.folded?.hints ?? []) : [],
  );
}

/** Rows of whole pages of 16, so many rows a tile. */
function inPages(rows: number) {
  const text =
    "func @f(%kv: tensor<8x16x8xf32>, %bt: tensor<6xi32>) -> tensor<96x8xf32> {\n" +
    "  %y = access.gather %kv, %bt (d0, d1) -> (%bt[d0 div 16], d0 mod 16, d1) {oob = error}\n  return %y\n}\n";
  const func = parsed(text);
  return explain(func, { target: targets.ascendA2, tile: [rows, 8], residency: "gm" }).diagnostics;
}

function fail(): never {
  throw new Error("the outputs agree");
}

/** Codes whose text depends on the device or on the time. */
const varying: readonly Code[] = ["TC504", "TC506", "TC612"];

/** Section of docs/diagnostics.md on a code. */
function sectionOn(code: string): string {
  const page = readFileSync("docs/diagnostics.md", "utf8");
  return page.split(/^## /m).find((section) => section.startsWith(`${code}:`)) ?? "";
}

/** Message and hint as a command prints them; no path of this machine. */
const printed = ({ severity, code, message, hint }: Diagnostic): string =>
  [
    `${severity}[${code}]: ${message.replaceAll(`${folder}/`, "")}`,
    ...(hint === undefined ? [] : [`   = hint: ${hint}`]),
  ].join("\n");

describe("every diagnostic code", () => {
  it("has a trigger here", () => {
    expect(Object.keys(triggers)).toEqual(Object.keys(codes));
  });

  it.each(Object.entries(triggers))(
    "%s is reported, at its place, as on its page, and gone once its hint is followed",
    async (code, trigger) => {
      const found = (await trigger.found()).find((diagnostic) => diagnostic.code === code);
      expect(found?.code).toBe(code);
      if (found !== undefined && !varying.includes(found.code))
        expect(sectionOn(code)).toContain(`\`\`\`text\n${printed(found)}\n\`\`\``);
      expect(found?.message).toMatch(/^(?:[^A-Z]|[ABTV]\d+:|WebGPU|PTO-ISA|PyPTO)/);
      if (trigger.at !== undefined) expect([found?.span?.line, found?.span?.column]).toEqual(trigger.at);
      if (trigger.followed === undefined) return;
      expect((await trigger.followed()).filter((diagnostic) => diagnostic.code === code)).toEqual([]);
    },
  );
});

describe("a hand-written tile program", () => {
  it("is refused where no kernel has its form, not called a bug", () => {
    const program = `func @g(%x: gm<4xf32>, %i: gm<8xi32>, %y: gm<8xf32>) target("webgpu") {
  for %a = 0 to 8 step 4 parallel {
    for %b = %a to %a + min(4, 8 - %a) step 2 parallel {
      gather %x[0][4], %i[%b][2] to %y[%b][2] (d0) -> (%i[d0]) {oob = error, origin = [%b]}
    }
  }
}
`;
    const { module, diagnostics } = parseModule(program, "t.tir");
    expect(diagnostics).toEqual([]);
    const kernel = compile(module.funcs[0]!);
    expect(refusals(() => kernel.wgsl())[0]).toMatchObject({
      code: "TC502",
      message: expect.stringContaining("parallel loop %b"),
    });
  });
});
