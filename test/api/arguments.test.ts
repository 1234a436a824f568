import { describe, expect, it } from "vitest";
import { simulate, simulateLong } from "../../backends/sim/index.js";
import { createRunner, defaultLimits } from "../../backends/webgpu/index.js";
import {
  inputOf,
  statementsOf,
  parseModule,
  targets as builtIn,
  withPolicy,
  type AccessFunc,
  type Diagnostic,
  type Stmt,
  type Sym,
  type TileFunc,
} from "../../ir/index.js";
import { explain } from "../../src/api/explain.js";
import { acquireGpu } from "../../src/device/index.js";
import {
  compile,
  directml,
  gather,
  gatherElements,
  gatherNd,
  legalTiles,
  onnx,
  program,
  pypto,
  run,
  runOn,
  targets,
  toHost,
  tryCompile,
  tryProgram,
} from "../../src/index.js";
import { rejections } from "../support/refusal.js";

/** As JavaScript calls: whatever the types say. */
const anything = (value: unknown): never => value as never;

const op = gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 0 });
const kernel = compile(op, { tile: [64, 32] });
const access = kernel.access!;

/** The compiled program with its first statement of a kind changed. */
function withStmt<Op extends Stmt["op"]>(
  op: Op,
  change: (stmt: Extract<Stmt, { readonly op: Op }>) => Stmt,
): TileFunc {
  const { stmt: found } = statementsOf(kernel.tile).find(({ stmt }) => stmt.op === op)!;
  const edit = (body: readonly Stmt[]): Stmt[] =>
    body.map((stmt) => {
      if (stmt === found) return change(stmt as Extract<Stmt, { readonly op: Op }>);
      return stmt.op === "for" ? { ...stmt, body: edit(stmt.body) } : stmt;
    });
  return { ...kernel.tile, body: edit(kernel.tile.body) };
}

/** The access program with these symbols, of which none of its extents is one. */
const withSymbols = (...symbols: readonly Sym[]): AccessFunc => ({
  ...access,
  symbolic: { symbols, outermost: [null, null, null], map: anything(access.map) },
});

const inputs = { data: new Float32Array(64 * 80), indices: new Int32Array(64 * 64) };
const hosts = {
  data: toHost("data", inputOf(op, 0).type, inputs.data),
  indices: toHost("indices", inputOf(op, 1).type, inputs.indices),
};
const description = {
  op: "onnx.gather",
  attrs: { axis: 0 },
  data: { dtype: "f32", shape: [8, 4] },
  indices: { dtype: "i32", shape: [2] },
} as const;
const tensor = (type: string, ...sizes: number[]) => ({ DataType: type, Sizes: sizes });

/** What a call is refused with: each diagnostic as its code, its message and its hint. */
const refusal = async (call: () => unknown): Promise<string> => (await rejections(call)).map(told).join("\n");

const told = ({ code, message, hint }: Diagnostic): string =>
  `${code} ${message}${hint === undefined ? "" : ` -> ${hint}`}`;

const compileWith = (options: object) => () => compile(op, anything(options));
const runWith = (options: object) => () => run(kernel, inputs, anything(options));
const build = (change: object) => () => program(anything({ ...description, ...change }));

type Row = readonly [call: string, refused: () => unknown, says: string];

const schedules: readonly Row[] = [
  ["profile", compileWith({ profile: "lax" }), 'TC303 profile is "lax"; it takes strict or pages or head'],
  [
    "a profile with a typing error",
    compileWith({ profile: "strit" }),
    'TC303 profile is "strit"; it takes strict or pages or head -> did you mean strict?',
  ],
  ["residency", compileWith({ residency: "gpu" }), 'TC303 residency is "gpu"; it takes ub or gm or auto'],
  [
    "buffers 0",
    compileWith({ buffers: 0 }),
    "TC303 buffers is 0; it takes 1 or 2, or these by operand, such as { indices: 2, output: 2 }",
  ],
  [
    "buffers 3",
    compileWith({ buffers: 3 }),
    "TC303 buffers is 3; it takes 1 or 2, or these by operand, such as { indices: 2, output: 2 }",
  ],
  [
    "buffers as text",
    compileWith({ buffers: "2" }),
    'TC303 buffers is "2"; it takes 1 or 2, or these by operand, such as { indices: 2, output: 2 }',
  ],
  ["budgetRule", compileWith({ budgetRule: "all" }), 'TC303 budgetRule is "all"; it takes full or spec'],
  [
    "tile null",
    compileWith({ tile: null }),
    "TC302 tile is null; it takes a list of numbers, one for each output dim",
  ],
  [
    "tile as text",
    compileWith({ tile: "64,80" }),
    'TC302 tile is "64,80"; it takes a list of numbers, one for each output dim',
  ],
  [
    "tile of bigints",
    compileWith({ tile: [64n, 80n] }),
    "TC302 tile is [64n, 80n]; it takes a list of numbers, one for each output dim",
  ],
  ["tile with NaN", compileWith({ tile: [NaN, 80] }), "has NaN along dim 0; an entry is at least 1"],
  [
    "view",
    compileWith({ view: 64 }),
    "TC303 view is 64; it takes a list of numbers, one for each output dim",
  ],
  [
    "order",
    compileWith({ order: "1,0" }),
    'TC303 order is "1,0"; it takes a list of the output dims, outermost loop first',
  ],
  ["cores", compileWith({ cores: NaN }), "TC303 cores is NaN; it takes a whole number"],
  ["cores 0", compileWith({ cores: 0 }), "TC303 cores is 0; at least 1 core runs the tasks"],
  ["ubBytes", compileWith({ ubBytes: "192K" }), 'TC303 ubBytes is "192K"; it takes a whole number'],
  [
    "a program's own",
    () => compile({ ...op, schedule: anything({ profile: "lax" }) }),
    'TC303 profile is "lax"; it takes strict or pages or head',
  ],
  [
    "a description's own",
    build({ schedule: { tiel: [8, 4] } }),
    "TC303 a schedule has no tiel; it has tile, view, profile, residency, order, buffers, cores, budgetRule, ubBytes, lowering, rotate -> did you mean tile?",
  ],
];

const targetRows: readonly Row[] = [
  [
    "what findTarget gives",
    () => compile({ ...op, target: "mine" }, { findTarget: () => anything({ ...builtIn.cpu, kind: "gpu" }) }),
    'TC501 findTarget: mine.kind is "gpu"; it takes ascend or webgpu or cpu -> did you mean cpu?',
  ],
  [
    "what findTarget gives that is no object",
    () => compile({ ...op, target: "mine" }, { findTarget: () => anything("cpu") }),
    'TC501 findTarget: mine is "cpu"; it takes a target',
  ],
  [
    "a name with a typing error",
    compileWith({ target: "acsend-950" }),
    '-> pass targets.ascend950, or name "ascend-950" in the program',
  ],
  [
    "a name that nobody knows",
    compileWith({ target: "h100" }),
    "-> one of targets.ascendA2, targets.ascendA3, targets.ascend950, targets.webgpu, targets.cpu",
  ],
  [
    "null",
    compileWith({ target: null }),
    "TC501 target is null; it takes a target, such as targets.ascendA2",
  ],
  [
    "a figure of 0 that divides",
    compileWith({ target: { ...builtIn.ascendA2, cores: 0 } }),
    "TC501 target.cores is 0; it takes a whole number, 1 or more",
  ],
  [
    "a block that is no power of two",
    compileWith({ target: { ...builtIn.ascendA2, blockBytes: 24 } }),
    "TC501 target.blockBytes is 24; it takes a power of two, 4 or more",
  ],
  [
    "a figure that is missing",
    compileWith({ target: { ...builtIn.ascendA2, ubBytes: undefined } }),
    "TC501 target lacks target.ubBytes; it takes a whole number, 1 or more",
  ],
  [
    "a figure that no target has, among more than the hint needs beside it",
    compileWith({ target: { ...builtIn.ascendA2, coers: 20 } }),
    "TC501 target has no target.coers -> did you mean cores?",
  ],
  [
    "a kind",
    compileWith({ target: { ...builtIn.cpu, kind: "gpu" } }),
    'target.kind is "gpu"; it takes ascend',
  ],
  ["a value in a program", build({ target: targets.cpu }), "TC501 target is an object; it takes the name of"],
  ["of forTarget", () => kernel.forTarget(anything("webgpu")), "-> pass targets.webgpu"],
  ["of explain", () => explain(op, anything({ target: "cpus" })), "-> pass targets.cpu"],
];

const options: readonly Row[] = [
  [
    "compile",
    compileWith({ tiel: [64, 32] }),
    "TC702 compile has no tiel; it has tile, view, profile, residency, order, buffers, cores, budgetRule, ubBytes, lowering, rotate, bind, target, findTarget, passes, records, beforePass, afterPass, verifyEach -> did you mean tile?",
  ],
  ["compile: constructor", compileWith({ constructor: 1 }), "TC702 compile has no constructor"],
  [
    "compile: __proto__",
    compileWith(JSON.parse('{"__proto__": {"tile": [1, 1]}}') as object),
    "TC702 compile has no __proto__",
  ],
  [
    "legalTiles",
    () => legalTiles(op, anything({ onProgess: () => undefined })),
    "TC702 legalTiles has no onProgess; it has ",
  ],
  [
    "legalTiles: a tile of null",
    () => legalTiles(op, anything({ tile: null })),
    "TC302 tile is null; it takes ",
  ],
  [
    "legalTiles: onProgress",
    () => legalTiles(op, anything({ onProgress: true })),
    "TC702 onProgress is true; it takes a function",
  ],
  ["legalTiles: no program", () => legalTiles(anything(null)), "TC702 the program is null"],
  ["compile: no object", () => compile(op, anything(null)), "TC702 compile takes an object with tile, view"],
  [
    "passes",
    compileWith({ passes: ["fit-ub"] }),
    'TC702 passes is ["fit-ub"]; it takes a list of passes, such as defaultPipeline of tilec/passes',
  ],
  ["afterPass", compileWith({ afterPass: true }), "TC702 afterPass is true; it takes a function"],
  ["verifyEach", compileWith({ verifyEach: "no" }), 'TC702 verifyEach is "no"; it takes true or false'],
  [
    "executor",
    runWith({ executor: "fats" }),
    'TC702 executor is "fats"; it takes checked or fast -> did you mean fast?',
  ],
  [
    "backend",
    runWith({ backend: "gpu" }),
    'TC702 backend is "gpu"; it takes reference or sim or webgpu, or a backend: an object with a name and prepare(kernel) -> did you mean webgpu?',
  ],
  [
    "threads 0",
    runWith({ executor: "fast", threads: 0 }),
    "TC702 threads is 0; it takes a whole number, 1 to 64",
  ],
  ["threads of the checked executor", runWith({ threads: 2 }), "TC702 the checked executor has one thread"],
  ["spawn", runWith({ executor: "fast", spawn: 1 }), "TC702 spawn is 1; it takes a function"],
  ["signal", runWith({ signal: {} }), "TC702 signal is an object; it takes an AbortSignal"],
  ["runner", runWith({ backend: "webgpu", runner: {} }), "TC702 runner is an object; it takes a runner"],
  ["run", runWith({ thread: 2 }), "TC702 run has no thread; it has executor"],
  [
    "runOn",
    () => runOn(anything("gpu"), kernel, hosts),
    'TC702 backend is "gpu"; it takes reference or sim or webgpu',
  ],
  [
    "runOn: options",
    () => runOn("sim", kernel, hosts, anything({ excutor: "fast" })),
    "did you mean executor?",
  ],
  [
    "simulate",
    () => simulate(kernel, inputs, anything({ executor: "fats" })),
    'TC702 executor is "fats"; it takes checked or fast',
  ],
  [
    "simulate: an option of simulateLong",
    () => simulate(kernel, inputs, anything({ threads: 2 })),
    "TC702 simulate has no threads; it has executor",
  ],
  [
    "simulateLong",
    () => simulateLong(kernel, inputs, anything({ onProgress: 1 })),
    "onProgress is 1; it takes a function",
  ],
  [
    "acquireGpu",
    () => acquireGpu(anything({ limits: "defualt" })),
    'TC702 limits is "defualt"; it takes adapter or default',
  ],
  [
    "createRunner without a device",
    () => createRunner(anything(undefined)),
    "TC702 the device is undefined, no GPUDevice -> ",
  ],
  [
    "createRunner",
    () => createRunner(anything({ limits: {}, queue: {} }), anything({ pipeline: 8 })),
    "TC702 createRunner has no pipeline; it has pipelines",
  ],
  ["text", () => kernel.text(anything("tlie")), 'TC702 level is "tlie"; it takes source or access or tile'],
  [
    "wgsl",
    () => kernel.wgsl(anything({ maxStorageBufferBindingSize: 16 })),
    "TC702 wgsl lacks maxComputeWorkgroupStorageSize",
  ],
];

const inputRows: readonly Row[] = [
  [
    "none",
    () => run(kernel, anything(undefined)),
    "TC702 the inputs lack data; got undefined -> pass { data, indices }",
  ],
  ["an empty object", () => run(kernel, anything({})), "TC702 the inputs lack data; got only nothing"],
  [
    "one under another name",
    () => simulate(kernel, anything({ data: inputs.data, index: inputs.indices })),
    "TC702 the inputs lack indices; got only data, index",
  ],
  [
    "a plain array",
    () => simulate(kernel, anything({ ...inputs, data: [1, 2, 3] })),
    "TC702 data is 64x80xf32, 20480 bytes; got an array, not a typed one",
  ],
  [
    "a string tensor with a number",
    () =>
      run(compile(onnx.gather({ data: ["string", [2]], indices: ["i64", [1]] })), {
        data: anything(["a", 3]),
        indices: new BigInt64Array(1),
      }),
    "TC702 data is 2xstring, 8 bytes; got 3 as element 1",
  ],
  [
    "a type that is none",
    () => toHost("x", anything({ dtype: "f33", shape: [1] }), new Float32Array(1)),
    'TC104 x has element type "f33"',
  ],
  [
    "arrays for runOn",
    () => runOn("reference", kernel, anything(inputs)),
    "TC702 data is 64x80xf32, 20480 bytes; got undefined as its bytes -> toHost(",
  ],
  [
    "no kernel",
    () => run(anything({}), inputs),
    "TC702 the kernel is an object, without a tile program and a target",
  ],
  ["a program for a kernel", () => simulate(anything(op), inputs), "-> compile(program) makes a kernel"],
];

const builders: readonly Row[] = [
  [
    "no arguments",
    () => gather(anything(undefined)),
    "TC702 onnx.gather takes an object with data, indices, axis, opset, oob, not undefined",
  ],
  [
    "no indices",
    () => gather(anything({ data: ["f32", [4]] })),
    "TC103 onnx.gather lacks indices; it takes a type and a shape",
  ],
  [
    "a type that is none",
    () => gatherElements(anything({ data: ["f33", [4]], indices: ["i32", [4]] })),
    'TC104 data.dtype is "f33"',
  ],
  [
    "constructor as a type",
    () => gatherElements(anything({ data: ["constructor", [4]], indices: ["i32", [4]] })),
    'TC104 data.dtype is "constructor"',
  ],
  [
    "text for a type",
    () => gatherNd(anything({ data: "f32[4]", indices: ["i64", [1]] })),
    'TC103 data is "f32[4]"; it takes a type and a shape, such as ["f32", [4096, 1024]]',
  ],
  [
    "a shape with NaN",
    () => gather({ data: ["f32", [4, NaN]], indices: ["i32", [4]] }),
    "TC103 data [4, NaN] has an extent that is not a whole number",
  ],
  [
    "a shape that is none",
    () => gather(anything({ data: ["f32", 4], indices: ["i32", [4]] })),
    "TC103 data.shape is 4; it takes a list",
  ],
  [
    "a misspelt axis",
    () => gather(anything({ data: ["f32", [4, 4]], indices: ["i32", [4]], axsi: 1 })),
    "TC702 onnx.gather has no axsi; it has data, indices, axis, opset, oob -> did you mean axis?",
  ],
  [
    "an axis of null",
    () => gather(anything({ data: ["f32", [4, 4]], indices: ["i32", [4]], axis: null })),
    "TC105 axis is null; it takes a number, a word or a list of numbers",
  ],
  [
    "pypto: no dim",
    () => pypto.gather(anything({ input: ["f32", [4]], index: ["i32", [4]] })),
    "TC105 pypto.gather lacks dim",
  ],
  [
    "pypto: a misspelt level",
    () => pypto.gather(anything({ input: ["f32", [4]], index: ["i32", [4]], dim: 0, lvel: "head" })),
    "TC702 pypto.gather has no lvel; it has input, index, dim, vecTileShapes, viewShape, level, oob -> did you mean level?",
  ],
  [
    "pypto: a tile as text",
    () => pypto.gather(anything({ input: ["f32", [4]], index: ["i32", [4]], dim: 0, vecTileShapes: "4" })),
    'TC302 vecTileShapes is "4"; it takes a list of numbers',
  ],
  [
    "directml: a type that is none",
    () =>
      directml.gatherElements(
        anything({ InputTensor: tensor("FLOAT33", 4), IndicesTensor: tensor("INT32", 4), Axis: 0 }),
      ),
    'TC104 InputTensor.DataType is "FLOAT33"',
  ],
  [
    "directml: a field that would be ignored",
    () =>
      directml.gatherElements(
        anything({
          InputTensor: { ...tensor("FLOAT32", 4), Strides: [2] },
          IndicesTensor: tensor("INT32", 4),
          Axis: 0,
        }),
      ),
    "TC702 InputTensor has no InputTensor.Strides; it has DataType, Sizes",
  ],
  ["directml: no descriptor", () => directml.gather(anything({})), "TC103 directml.gather lacks InputTensor"],
  [
    "directml: options",
    () =>
      directml.gatherElements(
        anything({ InputTensor: tensor("FLOAT32", 4), IndicesTensor: tensor("INT32", 4), Axis: 0 }),
        anything({ featurelevel: "2.0" }),
      ),
    "-> did you mean featureLevel?",
  ],
];

const descriptions: readonly Row[] = [
  [
    "no object",
    () => program(anything("gather")),
    'TC702 a program takes an object with op, attrs, data, indices, operators, others, inPlace, name, target, schedule, not "gather"',
  ],
  ["no attributes", build({ attrs: undefined }), "TC105 a program lacks attrs"],
  [
    "an attribute of null",
    build({ attrs: { axis: null } }),
    "TC105 attrs.axis is null; it takes a number, a word or a list",
  ],
  [
    "constructor as an attribute",
    build({ attrs: { constructor: 1 } }),
    "TC105 onnx.gather has no attribute constructor",
  ],
  [
    "__proto__ as an attribute",
    build({ attrs: JSON.parse('{"__proto__": 1}') as object }),
    "TC105 onnx.gather has no attribute __proto__",
  ],
  [
    "a type without shape",
    build({ data: { dtype: "f32" } }),
    "TC103 data lacks data.shape; it takes a list of extents",
  ],
  ["an operator that is no text", build({ op: 3 }), "TC702 op is 3; it takes an operator"],
  ["a name that the text form lacks", build({ name: "a b" }), 'TC702 name is "a b"; it takes a name'],
  [
    "a kernel for compile",
    () => compile(anything(kernel)),
    "TC702 the program is an object, no function at any level",
  ],
  ["null for compile", () => compile(anything(null)), "TC702 the program is null, no function at any level"],
  [
    "a function with a name that the text form lacks",
    () => compile({ ...op, name: "a/b" }),
    'TC702 name is "a/b"; it takes a name of letters, digits and _',
  ],
  [
    "a function with a type that is none",
    () =>
      compile(
        anything({
          ...op,
          operands: op.operands.map((operand) => ({ ...operand, type: { dtype: "f33", shape: [64, 80] } })),
        }),
      ),
    'TC104 operands[0].type.dtype is "f33"',
  ],
  [
    "a function without an output",
    () => compile(anything({ ...op, operands: op.operands.slice(0, 2) })),
    'TC702 operands[1].role is "indices"; it takes output',
  ],
  [
    "a function with its operands in another order",
    () => compile({ ...op, operands: op.operands.toReversed() }),
    'TC702 operands[0].role is "output"; it takes data',
  ],
  [
    "a source function without attributes",
    () => compile(anything({ ...op, attrs: undefined })),
    "TC105 the program lacks attrs",
  ],
  [
    "an access function without a map",
    () => compile(anything({ ...access, map: [] })),
    "TC702 map is []; it takes an access map",
  ],
  [
    "a tile function without a body",
    () => compile(anything({ ...kernel.tile, body: undefined })),
    "TC702 the program lacks body; it takes a list of statements",
  ],
  [
    "a policy that is none",
    () => compile({ ...access, map: withPolicy(access.map, anything("clmap")) }),
    'TC702 map.indices[0].outOfRange is "clmap"; it takes error or clamp or zero or wrap or unchecked or skip or any -> did you mean clamp?',
  ],
  [
    "a policy that is none in a hand-built gather",
    () => compile(withStmt("gather", (stmt) => ({ ...stmt, map: withPolicy(stmt.map, anything("clmap")) }))),
    '.map.indices[0].outOfRange is "clmap"; it takes error or clamp or zero or wrap or unchecked or skip or any -> did you mean clamp?',
  ],
  [
    "the same where it is simulated",
    () =>
      simulate(
        {
          ...kernel,
          tile: withStmt("gather", (stmt) => ({ ...stmt, map: withPolicy(stmt.map, anything("clmap")) })),
        },
        inputs,
      ),
    '.map.indices[0].outOfRange is "clmap"; it takes error or clamp or zero or wrap or unchecked or skip or any',
  ],
  [
    "a statement that is none",
    () => compile(withStmt("load", (stmt) => anything({ ...stmt, op: "laod" }))),
    '.op is "laod"; it takes for or alloc or load or gather or scatter or fill or store or sync -> did you mean load?',
  ],
  [
    "a buffer whose name ends the line of a comment",
    () => compile(withStmt("load", (stmt) => ({ ...stmt, to: "x\ny" }))),
    '.to is "x\\ny"; it takes a name of letters, digits and _',
  ],
  [
    "a symbol that is called as what sizes tell kernels",
    () => compile(withSymbols({ name: "below0", most: 9 })),
    'symbolic.symbols[0].name is "below0"; it takes capitals, digits and _, such as N or MAX_PAGES',
  ],
  [
    "a symbol of no size",
    () => compile(withSymbols({ name: "N", most: 0 })),
    "symbolic.symbols[0].most is 0; it takes a whole number, 1 or more",
  ],
  [
    "two symbols of one name",
    () => compile(withSymbols({ name: "N", most: 9 }, { name: "N", most: 8 })),
    "TC702 symbolic.symbols has N twice",
  ],
  [
    "a loop of another kind",
    () => compile(withStmt("for", (stmt) => ({ ...stmt, mode: anything("paralel") }))),
    '.mode is "paralel"; it takes parallel or serial -> did you mean parallel?',
  ],
  [
    "a bound that is a number, no form",
    () => compile(withStmt("for", (stmt) => ({ ...stmt, upper: anything(64) }))),
    ".upper is 64; it takes a linear form, such as constant(0)",
  ],
  [
    "a form of an atom that is none",
    () =>
      compile(
        withStmt("for", (stmt) => ({
          ...stmt,
          upper: anything({ at: 0, terms: [{ by: 1, of: { kind: "constructor" } }] }),
        })),
      ),
    ".upper is an object; it takes a linear form",
  ],
  [
    "a pipe that is none",
    () => compile(withStmt("sync", (stmt) => ({ ...stmt, from: anything("MTE1") }))),
    '.from is "MTE1"; it takes MTE2 or V or MTE3 or S',
  ],
  [
    "an element type that is none, of a buffer",
    () =>
      compile(withStmt("alloc", (stmt) => ({ ...stmt, buffer: { ...stmt.buffer, dtype: anything("f33") } }))),
    'TC104 body[0].buffer.dtype is "f33"',
  ],
  [
    "no region",
    () => compile(withStmt("store", (stmt) => ({ ...stmt, to: anything("output") }))),
    '.to is "output"; it takes a region',
  ],
];

describe.each([
  ["a schedule", schedules],
  ["a target", targetRows],
  ["an option", options],
  ["an input", inputRows],
  ["a builder's argument", builders],
  ["a program", descriptions],
] as const)("%s that is none is told with its field and what it takes", (_what, rows) => {
  it.each(rows)("%s", async (_call, refused, says) => {
    expect(await refusal(refused)).toContain(says);
  });
});

describe("limits", () => {
  it("may be a device's own, whose properties stand on its prototype among others", () => {
    const limits = Object.create({ ...defaultLimits, maxTextureDimension1D: 8192 }) as typeof defaultLimits;
    expect(kernel.wgsl(limits)).toEqual(kernel.wgsl());
  });
});

describe("the doors that return their diagnostics", () => {
  it("return those of arguments too", () => {
    const compiled = tryCompile(op, anything({ profile: "lax" }));
    expect(compiled.ok ? [] : compiled.diagnostics.map((d) => d.code)).toEqual(["TC303"]);
    const built = tryProgram(anything({ ...description, data: null }));
    expect(built.ok ? [] : built.diagnostics.map((d) => d.code)).toEqual(["TC103"]);
  });

  it("take the name of a built-in target in its place", () => {
    const byName = compile(op, { target: "webgpu" });
    expect(byName.target).toBe(builtIn.webgpu);
    expect(byName.tile).toEqual(compile(op, { target: builtIn.webgpu }).tile);
    expect(legalTiles(op, { target: "ascend-950" }).target).toBe("ascend-950");
    expect(compile({ ...op, target: "cpu" }, { target: "ascend-a3" }).target).toBe(builtIn.ascendA3);
  });

  it("take a field that is undefined as one that is absent", () => {
    expect(tryCompile(op, anything({ tile: undefined, profile: undefined, target: undefined })).ok).toBe(
      true,
    );
  });
});

describe("an attribute of the text form", () => {
  it.each(["constructor", "__proto__", "toString"])("is unknown when it is called %s", (name) => {
    const text = `func @g(%x: tensor<4xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  %y = onnx.gather %x, %i {${name} = 1}
  return %y
}
`;
    const { module, diagnostics } = parseModule(text, "t.tir");
    expect(diagnostics).toEqual([]);
    const result = tryCompile(module.funcs[0]!);
    expect(result.ok ? [] : result.diagnostics.map(told)).toEqual([
      `TC105 onnx.gather has no attribute ${name} -> onnx.gather has the attributes axis, opset, oob`,
    ]);
  });
});
