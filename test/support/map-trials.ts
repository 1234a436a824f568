/** A random map on every backend, under several schedules, against the oracle; throws an Error for what must not be. */
import { referenceBackend, referenceOfMap } from "../../backends/reference/index.js";
import type { HostInputs } from "../../backends/index.js";
import { simulateBytes } from "../../backends/sim/index.js";
import type { Runner } from "../../backends/webgpu/index.js";
import {
  byteCount,
  CompileError,
  meanBytes,
  equalModule,
  inputsOf,
  keyOf,
  dynamicFormOf,
  outputOf,
  parseModule,
  printModule,
  RunError,
  targets,
  type AccessFunc,
  type Func,
  type Residencies,
  type Schedule,
  type TensorType,
} from "../../ir/index.js";
import { tryCompile, type CompileOptions, type Kernel } from "../../src/index.js";
import {
  BrokenPromise,
  elementsOf,
  shapeOf,
  substituted,
  textOf,
  type Bad,
  type OracleMap,
  type Table,
} from "../oracle/maps.js";
import type { Draw } from "../fuzz/mutate.js";
import { fastOutput } from "./fast.js";

export type MapOutcome = "right bits" | "error" | "refused" | "accepted";

/** Refusals that a map, or a schedule of it, may meet: windows under wrap, the rules of tiling, devices. */
const allowed = new Set(["TC301", "TC401", "TC402", "TC403", "TC502", "TC505"]);

const mask = (bits: number): bigint => (1n << BigInt(bits)) - 1n;

/** The same bytes for the same table, whatever it is asked for. */
function tableBytes({ values, dtype }: Table, type: TensorType): Uint8Array {
  const size = meanBytes(type.dtype);
  const bytes = new Uint8Array(byteCount(type));
  if (values.length === 0) return bytes.map((_, k) => (k * 37 + (k >> 8) * 11 + 5) & 255);
  const view = new DataView(bytes.buffer);
  values.forEach((value, k) => {
    for (let b = 0; b < size; b++) view.setUint8(k * size + b, Number((value >> BigInt(8 * b)) & mask(8)));
  });
  if (dtype !== type.dtype) throw new Error(`${dtype} is read as ${type.dtype}`);
  return bytes;
}

export interface Want {
  readonly output: Uint8Array;
}

/** Bytes that the oracle expects, the first bad point, or undefined where a promise is broken. */
function wanted(map: OracleMap, data: Uint8Array, size: number): Want | Bad | undefined {
  try {
    const found = elementsOf(map);
    if ("point" in found) return found;
    const output = new Uint8Array(found.length * size);
    found.forEach((element, k) => {
      if (element !== null) {
        output.set(data.subarray(element * size, (element + 1) * size), k * size);
        return;
      }
      for (let b = 0; b < size; b++) output[k * size + b] = Number((map.fill >> BigInt(8 * b)) & mask(8));
    });
    return { output };
  } catch (thrown) {
    if (thrown instanceof BrokenPromise) return undefined;
    throw thrown;
  }
}

function parsed(map: OracleMap): Func | string[] {
  const text = textOf(map);
  const { module, diagnostics } = parseModule(text, "map.tir");
  if (diagnostics.length > 0) return diagnostics.map(({ code, message }) => `${code} ${message}`);
  const again = parseModule(printModule(module), "printed.tir");
  if (again.diagnostics.length > 0 || !equalModule(again.module, module))
    throw new Error(`does not print and parse back:\n${printModule(module)}`);
  return module.funcs[0]!;
}

const randomTile = (map: OracleMap, draw: Draw): number[] =>
  shapeOf(map.output, map).map((extent) => 1 + draw(Math.max(1, extent)));

/** A schedule at random; residency by the tables too. */
export function randomSchedule(
  map: OracleMap,
  keys: readonly string[],
  draw: Draw,
): Pick<CompileOptions, "target"> & Schedule {
  const output = shapeOf(map.output, map);
  const rank = output.length;
  const order = Array.from({ length: rank }, (_, d) => d).sort(() => draw(3) - 1);
  const [data = "data", ...tables] = keys;
  const target = [targets.ascendA2, targets.ascend950, targets.webgpu, targets.cpu][draw(4)]!;
  const byOperand: Residencies = Object.fromEntries([
    [data, draw(2) === 0 ? "ub" : "gm"],
    ...tables.flatMap((table) => (draw(2) === 0 ? [[table, draw(2) === 0 ? "ub" : "gm"]] : [])),
  ]) as Residencies;
  return {
    target,
    // A choice of the compiler's takes longer than all the rest.
    ...(draw(16) === 0
      ? ({ residency: "auto" } as const)
      : { residency: ([byOperand, byOperand, "ub", "gm"] as const)[draw(4)]!, tile: randomTile(map, draw) }),
    ...(draw(3) === 0 ? { order } : {}),
    ...(draw(3) === 0 ? { buffers: 2 } : {}),
  };
}

/** What a backend gave must be what the oracle wants. */
function compare(
  got: Uint8Array | RunError,
  want: Want | Bad,
  keys: ReadonlyMap<string, string>,
  who: string,
): MapOutcome {
  if ("point" in want) {
    const [found] = got instanceof RunError ? got.diagnostics : [];
    const { code, data = {} } = found ?? {};
    const point = JSON.stringify(data["point"]);
    const sameRead =
      want.read === undefined ||
      (data["table"] === keys.get(want.read.table) && data["position"] === want.read.position);
    if (
      code === "TC601" &&
      point === JSON.stringify(want.point) &&
      data["value"] === String(want.value) &&
      sameRead
    )
      return "error";
    throw new Error(
      `${who} says ${found?.message ?? "nothing"} ${JSON.stringify(data)}; the first bad index is ${want.value} at point ${want.point.join()}${JSON.stringify(want.read)}`,
    );
  }
  if (got instanceof RunError) throw new Error(`${who} reports an error where there is none: ${got.message}`);
  if (Buffer.compare(got, want.output) === 0) return "right bits";
  throw new Error(
    `${who}: ${Buffer.from(got).toString("hex")} is not ${Buffer.from(want.output).toString("hex")}`,
  );
}

async function outcomeOf(run: () => Uint8Array | Promise<Uint8Array>): Promise<Uint8Array | RunError> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof RunError) return thrown;
    throw thrown;
  }
}

/** One extent less than the map needs: what verifies all the same leaves no extent at any point. */
function judgeShorter(map: OracleMap, draw: Draw): void {
  const k = draw(map.tables.length);
  const shape = map.tables[k]!.shape;
  const d = draw(shape.length);
  const extent = shape[d]!;
  if (typeof extent === "string" || extent < 2) return;
  const tables = map.tables.map((table, t) =>
    t === k ? { ...table, shape: shape.map((old, e) => (e === d ? extent - 1 : old)) } : table,
  );
  const shorter = { ...map, tables };
  const func = parsed(shorter);
  if (Array.isArray(func) || !tryCompile(func, { bind: map.sizes, ...leastTile(map) }).ok) return;
  try {
    elementsOf(shorter);
  } catch (thrown) {
    if (!(thrown instanceof BrokenPromise))
      throw new Error(`verified, and\n${textOf(shorter)}`, { cause: thrown });
  }
}

/** A bare read under wrap in a sum; what is proved for every size of a symbol goes through div and mod by sizes alone. */
const mayBeRefused = (map: OracleMap, said: string): boolean =>
  /\bV3\b/.test(said) ||
  (Object.keys(map.most).length > 0 && /\b(?:div|mod)\b/.test(textOf(map)) && /\bV[12]\b/.test(said));

const nameOf = (target: CompileOptions["target"]): string | undefined =>
  typeof target === "string" ? target : target?.name;

/** Of one element a tile: what is asked is whether the program holds. */
const leastTile = (map: OracleMap) => ({
  target: targets.webgpu,
  residency: "gm" as const,
  tile: map.output.map(() => 1),
});

async function compareOnHost(
  kernel: Kernel,
  { inputs, want, names }: MapTrial,
  shown: string,
): Promise<void> {
  const byDefinition = await outcomeOf(async () => {
    const prepared = await referenceBackend.prepare(kernel);
    return (await prepared.run(inputs)).output;
  });
  compare(byDefinition, want, names, `the reference of the tile program, ${shown}`);
  compare(await outcomeOf(() => simulateBytes(kernel, inputs).output), want, names, `sim, ${shown}`);
  const fast = await outcomeOf(() => fastOutput(kernel, inputs)).catch((thrown: unknown) => {
    if (!(thrown instanceof CompileError && thrown.diagnostics.every(({ code }) => code === "TC502")))
      throw thrown;
  });
  if (fast !== undefined) compare(fast, want, names, `sim, fast, ${shown}`);
}

/** A map with its inputs, and what the oracle wants of it. */
export interface MapTrial {
  readonly func: Func;
  readonly access: AccessFunc;
  readonly inputs: HostInputs;
  readonly keys: readonly string[];
  /** Keys by the oracle's names. */
  readonly names: ReadonlyMap<string, string>;
  readonly want: Want | Bad;
}

/** `accepted`: a promise is broken, and anything may come of it. Throws an Error for a refusal that must not be. */
export function trialOf(map: OracleMap): MapTrial | "refused" | "accepted" {
  const func = parsed(map);
  if (Array.isArray(func)) throw new Error(`the text is refused: ${func.join("; ")}`);
  const plain = tryCompile(func, { bind: map.sizes, ...leastTile(map) });
  if (!plain.ok) {
    const said = plain.diagnostics.map(({ code, message }) => `${code} ${message}`);
    if (said.every((one) => mayBeRefused(map, one))) return "refused";
    throw new Error(`refused: ${said.join("; ")}`);
  }
  const { access } = plain.kernel;
  if (access === undefined) throw new Error("an access program has an access map");
  const inputs = Object.fromEntries(
    inputsOf(access).map((operand, k) => [
      keyOf(operand),
      { type: operand.type, bytes: tableBytes(map.tables[k]!, operand.type) },
    ]),
  );
  const keys = inputsOf(access).map(keyOf);
  const names = new Map(map.tables.map(({ name }, k) => [name, keys[k]!]));
  const data = inputsOf(access)[0]!;
  const want = wanted(map, inputs[keyOf(data)]!.bytes, meanBytes(outputOf(access).type.dtype));
  return want === undefined ? "accepted" : { func, access, inputs, keys, names, want };
}

/** Throws an Error for what must not be. */
export async function judgeMap(map: OracleMap, draw: Draw, runner?: Runner): Promise<MapOutcome> {
  judgeShorter(map, draw);
  const trial = trialOf(map);
  if (typeof trial === "string") return trial;
  const { func, access, inputs, keys, names, want } = trial;
  const outcome = compare(
    await outcomeOf(() => referenceOfMap(access.map, access.operands, inputs)),
    want,
    names,
    "reference",
  );
  const numbers = substituted(map);
  const kernels: (readonly [Kernel, string])[] = [];
  for (let k = 0; k < 3; k++) {
    const schedule = randomSchedule(map, keys, draw);
    // Once the symbols are numbers of the text.
    const own = k === 2 ? parsed(numbers) : func;
    if (Array.isArray(own)) throw new Error(`with its sizes as numbers: ${own.join("; ")}`);
    const result = tryCompile(own, { ...schedule, ...(k === 2 ? {} : { bind: map.sizes }) });
    const shown = `${k === 2 ? "substituted, " : ""}${nameOf(schedule.target)} ${JSON.stringify({ ...schedule, target: undefined })}`;
    if (result.ok) kernels.push([result.kernel, shown]);
    else if (!result.diagnostics.some(({ code }) => allowed.has(code)))
      throw new Error(
        `${shown}: ${result.diagnostics.map(({ code, message }) => `${code} ${message}`).join("; ")}`,
      );
  }
  for (const [kernel, shown] of kernels) await compareOnHost(kernel, trial, shown);
  if (runner !== undefined) {
    const own = tryCompile(func, { bind: map.sizes, target: runner.target, tile: randomTile(map, draw) });
    if (own.ok) compare(await outcomeOf(() => runner.runBytes(own.kernel, inputs)), want, names, "webgpu");
  }
  return outcome;
}

/** The same at the most that sizes may be: what is compiled for all of them. */
const atTheMost = (map: OracleMap): OracleMap => ({ ...map, sizes: map.most });

/** What came of binding kernels of open sizes: whether their sizes share code. */
export interface BoundOutcome {
  readonly shared: number;
  readonly alone: number;
  /** Of those on WebGPU: whose text reads its sizes, and is that of the program for all of them. */
  readonly texts: number;
}

/** Kernels compiled at the most and bound, against the oracle on every backend. Throws an Error for what must not be. */
export async function judgeBound(map: OracleMap, draw: Draw, runner?: Runner): Promise<BoundOutcome> {
  const trial = trialOf(map);
  const outcome = { shared: 0, alone: 0, texts: 0 };
  if (typeof trial === "string") return outcome;
  const { func, inputs, keys, names, want } = trial;
  for (let k = 0; k < 3; k++) {
    const schedule = randomSchedule(atTheMost(map), keys, draw);
    const own = k === 2 && runner !== undefined ? { target: runner.target, tile: schedule.tile! } : schedule;
    const shown = `bound, ${nameOf(own.target)} ${JSON.stringify({ ...own, target: undefined })}`;
    const whole = tryCompile(func, own);
    if (!whole.ok) {
      // A window that some smaller size leaves room for may have none at the most.
      if (whole.diagnostics.some(({ code }) => allowed.has(code) || code === "TC204")) continue;
      throw new Error(`${shown}: ${whole.diagnostics.map(({ message }) => message).join("; ")}`);
    }
    const kernel = whole.kernel.bind(map.sizes);
    outcome[dynamicFormOf(kernel.tile) === undefined ? "alone" : "shared"]++;
    await compareOnHost(kernel, trial, shown);
    if (runner === undefined) continue;
    compare(await outcomeOf(() => runner.runBytes(kernel, inputs)), want, names, `webgpu, ${shown}`);
    if (runner.wgsl(kernel).bindings.some(({ access }) => access === "uniform")) outcome.texts++;
  }
  return outcome;
}
