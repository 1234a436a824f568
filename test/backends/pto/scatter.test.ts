/** Scatters as PTO-ISA kernels on the judge: the oracle's bits, its bad index with nothing written in place, or a refusal by name. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { byteCount, inputsOf, type Schedule } from "../../../ir/index.js";
import {
  compile,
  meets,
  pypto,
  explain,
  runOn,
  targets,
  toHost,
  tryCompile,
  type CompileOptions,
  type Kernel,
} from "../../../src/index.js";
import type { HostInputs } from "../../../backends/index.js";
import { unmetCondition } from "../../../backends/reference/unmet-condition.js";
import { caseProgram } from "../../../src/formats/case-program.js";
import { readCases } from "../../../src/formats/cases.js";
import { drawer, type Draw } from "../../fuzz/mutate.js";
import { outcomeOf, textOf, type OracleScatter } from "../../oracle/scatter.js";
import { hostInputsOf } from "../../support/case-kernel.js";
import { cppCompiler, onMachines, ptoJob, runPto, type PtoJob } from "../../support/pto.js";
import { randomScatter } from "../../support/random-scatter.js";
import { bytesOf, bytesOfElement, hostInputs } from "../../support/scatter-inputs.js";
import { diagnosticsOf } from "../../support/refusal.js";
import { parsed, parsedAccess } from "../../support/parsed.js";

const ascend = [targets.ascendA2, targets.ascendA3, targets.ascend950] as const;

/** Run of a kernel on the emulator with the expected output; without output, a status is expected and the tensor in place as before. */
interface Expected {
  readonly job: PtoJob;
  readonly text: string;
  readonly output: Uint8Array | undefined;
}

/** The reasons of all refusals by PTO, without what is the program's. */
type Refusals = Map<string, number>;

/** A kernel's job; undefined, with its reason noted, where PTO-ISA has no form for it. */
function jobOf(
  kernel: Kernel,
  name: string,
  inputs: readonly Uint8Array[],
  refusals: Refusals,
): PtoJob | undefined {
  try {
    return ptoJob(kernel, name, inputs);
  } catch (thrown) {
    const { code, message } = diagnosticsOf(thrown)[0]!;
    expect(code).toBe("TC505");
    const reason = message
      .replace("a kernel for PTO-ISA has no form for ", "")
      .replace(/ of (i|u|f|bf)\d+( with \d+,)?/, "")
      .replace(/\d+ points/, "many points");
    refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
    return undefined;
  }
}

/** True if the inputs meet the conditions of a kernel. */
const isMet = ({ kernel: { assumes } }: PtoJob, { access }: Kernel, inputs: HostInputs): boolean =>
  unmetCondition({ map: access!.map, operands: access!.operands, inputs }, assumes) === undefined;

/** Runs kernels; returns what is wrong with each. */
async function objectionsTo(trials: readonly Expected[]): Promise<readonly string[]> {
  const objections: string[] = [];
  for (let k = 0; k < trials.length; k += 300) {
    const some = trials.slice(k, k + 300);
    const verdicts = await runPto(some.map(({ job }) => job));
    verdicts.forEach(({ fault, status, output }, n) => {
      const { job, text, output: wanted } = some[n]!;
      const inPlace = job.kernel.params.filter(({ role }) => role === "data").length === 0;
      const isSame = (bytes: Uint8Array): boolean => Buffer.compare(output, bytes) === 0;
      if (fault !== "" && !(wanted === undefined && fault.endsWith("is never stored")))
        objections.push(`${fault}\n${text}`);
      else if (status !== (wanted === undefined)) objections.push(`status ${status}\n${text}`);
      else if (wanted !== undefined && !isSame(wanted)) objections.push(`other bits\n${text}`);
      else if (
        wanted === undefined &&
        inPlace &&
        job.kernel.checkEntryPoint !== undefined &&
        !isSame(job.inputs[0]!)
      )
        objections.push(`a rejected run has written\n${text}`);
    });
  }
  return objections;
}

const reasons = [
  "duplicates = error, which needs an owner for each element",
  "an index value that only the written value needs",
  "a scatter of a value that is computed",
  "a scatter of sums",
  "a fill whose words differ",
  "an input that holds index values and values",
  ...["add", "mul", "min", "max"].map((how) => `${how}: the base is not finite`),
  "mul: many points may meet in an element",
  "min: PTO-ISA does not say what it gives for NaN and for zeros of two signs",
  "max: PTO-ISA does not say what it gives for NaN and for zeros of two signs",
];

describe("the cases of scatters as PTO-ISA kernels", () => {
  it("give the reference's bits, or tell of the bad index", { timeout: 600_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const trials: Expected[] = [];
    const refusals: Refusals = new Map();
    const folder = new URL("../../conformance/scatter/", import.meta.url);
    for (const file of readdirSync(folder).sort())
      for (const [k, test] of readCases(readFileSync(new URL(file, folder), "utf8"), file).entries()) {
        const program = caseProgram(test);
        if (!program.ok) continue;
        const residency = (["ub", "gm", undefined] as const)[k % 3];
        const compiled = tryCompile(
          { ...program.func, schedule: { ...program.func.schedule, ...(residency && { residency }) } },
          { target: ascend[k % 2 === 0 ? 0 : 2] },
        );
        if (!compiled.ok) continue;
        const { kernel } = compiled;
        const inputs = hostInputsOf(test, kernel.tile);
        const bytes = Object.values(inputs).map((input) => Uint8Array.from(input.bytes));
        if (kernel.tile.operands.some(({ type }) => type.dtype === "string")) continue;
        const job = jobOf(kernel, `k${trials.length}`, bytes, refusals);
        if (job === undefined || job.kernel.blocks === 0 || !isMet(job, kernel, inputs)) continue;
        trials.push({
          job,
          text: `${test.id}\n${kernel.text("tile")}`,
          output: await reference(kernel, inputs),
        });
      }
    expect(trials.length).toBeGreaterThan(60);
    expect(await objectionsTo(trials)).toEqual([]);
    for (const reason of refusals.keys()) expect(reasons).toContain(reason);
  });
});

/** Returns the output of the reference; undefined if the reference rejects an index. */
async function reference(
  kernel: Kernel,
  inputs: Parameters<typeof runOn>[2],
): Promise<Uint8Array | undefined> {
  try {
    return Uint8Array.from((await runOn("reference", kernel, inputs)).output);
  } catch (thrown) {
    diagnosticsOf(thrown);
    return undefined;
  }
}

/** A schedule for a scatter's points. */
function randomSchedule({ domain }: OracleScatter, draw: Draw): Schedule {
  const entries = (): number[] =>
    domain.map((extent) => (draw(3) === 0 ? Math.max(1, extent) : 1 + draw(Math.max(1, extent))));
  return {
    ...(draw(5) === 0 ? {} : { tile: entries() }),
    ...(draw(2) === 0 ? {} : { view: entries() }),
    cores: 1 + draw(3),
    residency: draw(3) === 0 ? "gm" : "ub",
  };
}

describe("random scatters as PTO-ISA kernels", () => {
  it(
    "give the oracle's bits, or tell of its bad index, whatever the tile",
    { timeout: 600_000 },
    async (context) => {
      if (cppCompiler() === undefined) return context.skip();
      const trials: Expected[] = [];
      const refusals: Refusals = new Map();
      const counts = { bits: 0, index: 0, inPlace: 0, combined: 0, inGm: 0 };
      for (let seed = 0; seed < 1300; seed++) {
        const draw = drawer(seed * 23 + 5);
        const scatter = randomScatter(draw);
        const text = textOf(scatter);
        const func = parsedAccess(text);
        const outcome = outcomeOf(scatter);
        const schedule = randomSchedule(scatter, draw);
        const compiled = tryCompile({ ...func, schedule }, { target: ascend[draw(3)]! });
        if (!compiled.ok) continue;
        const given = hostInputs(scatter, func);
        const inputs = Object.values(given).map(({ bytes }) => Uint8Array.from(bytes));
        const job = jobOf(compiled.kernel, `k${trials.length}`, inputs, refusals);
        // A broken promise leaves any of the updates; an output without elements launches nothing.
        if (job === undefined || outcome.kind === "duplicate" || job.kernel.blocks === 0) continue;
        if (!isMet(job, compiled.kernel, given)) continue;
        counts[outcome.kind]++;
        if (scatter.inout) counts.inPlace++;
        if (scatter.combine !== "set") counts.combined++;
        if (schedule.residency === "gm" && job.kernel.code.includes("element_ub")) counts.inGm++;
        const output =
          outcome.kind === "bits" ? bytesOf(outcome.bits, bytesOfElement(scatter.type)) : undefined;
        trials.push({ job, text: `${text}\n${compiled.kernel.text("tile")}\n${job.kernel.code}`, output });
      }
      expect(await objectionsTo(trials)).toEqual([]);
      expect(counts.bits).toBeGreaterThan(150);
      expect(counts.index).toBeGreaterThan(15);
      expect(counts.inPlace).toBeGreaterThan(40);
      expect(counts.combined).toBeGreaterThan(30);
      expect(counts.inGm).toBeGreaterThan(60);
      for (const reason of refusals.keys()) expect(reasons).toContain(reason);
    },
  );
});

/** Bits of 1, and of its last digit and sign, by float type. */
const ones = { f32: [0x3f800000n, 23, 31], f16: [0x3c00n, 10, 15], bf16: [0x3f80n, 7, 15] } as const;
type FloatType = keyof typeof ones;

/** Draws the bits of a number of a magnitude from 1 to 2. */
function nearOne(type: FloatType, draw: Draw): bigint {
  const [one, digits, sign] = ones[type];
  return one + BigInt(draw(2 ** digits)) + (BigInt(draw(2)) << BigInt(sign));
}

/** Draws a scatter of rows, each to the row that an index names. */
function randomRows(draw: Draw): OracleScatter {
  const [slots, columns, isUnique] = [1 + draw(6), 1 + draw(20), draw(2) === 0];
  const extent = slots + draw(4);
  // Each row once, from a row on.
  const first = draw(extent);
  const values = Array.from({ length: slots }, (_, k) =>
    BigInt(isUnique ? (first + k) % extent : draw(extent + 1)),
  );
  const table = { name: "i0", dtype: "i32", values } as const;
  const policy = (["skip", "clamp", "wrap"] as const)[draw(3)]!;
  const shape = [extent, columns + (draw(3) === 0 ? draw(3) : 0)];
  return {
    ...{ type: "f32", domain: [slots, columns], shape, combine: "add", fill: 0n, inout: draw(2) === 0 },
    ...(isUnique ? { duplicates: "unique" } : {}),
    indices: [{ name: "s0", table, dims: [0], policy, extent, fromEnd: false }],
    written: [
      { kind: "index", index: "s0", by: 1, part: "all" },
      { kind: "dim", dim: 1, by: 1, plus: 0 },
    ],
    update: { shape: [slots, columns], bits: Array.from({ length: slots * columns }, () => 0n) },
    base: Array.from({ length: extent * shape[1]! }, () => 0n),
  };
}

/** Draws a scatter of sums or products of floats, within any condition on few of them. */
function randomFloats(draw: Draw): OracleScatter {
  const { duplicates, ...drawn } = draw(2) === 0 ? randomRows(draw) : randomScatter(draw);
  const type = (["f32", "f16", "bf16"] as const)[draw(3)]!;
  const { base, update } = drawn;
  return {
    ...drawn,
    ...(duplicates === "unique" ? { duplicates } : {}),
    type,
    combine: draw(3) === 0 ? "mul" : "add",
    base: typeof base === "bigint" ? nearOne(type, draw) : base.map(() => nearOne(type, draw)),
    update: { ...update, bits: update.bits.map(() => nearOne(type, draw)) },
    fill: 0n,
  };
}

describe("random sums and products of floats", () => {
  it(
    "have the oracle's bits on every machine, where conditions are met",
    { timeout: 600_000 },
    async (context) => {
      if (cppCompiler() === undefined) return context.skip();
      const trials: Expected[] = [];
      const refusals: Refusals = new Map();
      const counts = { inUb: 0, inGm: 0, rows: 0, unmet: 0 };
      for (let seed = 0; seed < 600; seed++) {
        const draw = drawer(seed * 29 + 11);
        const scatter = randomFloats(draw);
        const text = textOf(scatter);
        const func = parsedAccess(text);
        const outcome = outcomeOf(scatter);
        const schedule = randomSchedule(scatter, draw);
        const compiled = tryCompile({ ...func, schedule }, { target: ascend[draw(3)]! });
        if (!compiled.ok || outcome.kind !== "bits") continue;
        const { kernel } = compiled;
        const given = hostInputs(scatter, func);
        const inputs = Object.values(given).map(({ bytes }) => Uint8Array.from(bytes));
        const job = jobOf(kernel, `k${trials.length}`, inputs, refusals);
        if (job === undefined || job.kernel.blocks === 0) continue;
        if (!isMet(job, kernel, given)) {
          counts.unmet++;
          continue;
        }
        counts[schedule.residency === "gm" ? "inGm" : "inUb"]++;
        if (!job.kernel.code.includes("operand_ub")) counts.rows++;
        const output = bytesOf(outcome.bits, bytesOfElement(scatter.type));
        for (const one of onMachines(job))
          trials.push({ job: one, text: `${text}\n${job.kernel.code}`, output });
      }
      expect(await objectionsTo(trials)).toEqual([]);
      expect(counts.inUb).toBeGreaterThan(80);
      expect(counts.inGm).toBeGreaterThan(15);
      expect(counts.rows).toBeGreaterThan(30);
      for (const reason of refusals.keys()) expect(reasons).toContain(reason);
    },
  );

  it("lose an order with each sync or barrier that is left out", async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const text =
      "func @f(%x: inout tensor<9x20xf16>, %i: tensor<5xi32>, %u: tensor<5x20xf16>) -> tensor<9x20xf16> {\n" +
      "  %y = access.scatter %x, %i, %u (d0 < 5, d1 < 20) -> (%i[d0], d1) yield %u[d0, d1] {oob = skip, combine = add, duplicates = unique}\n" +
      "  return %y\n}\n";
    const func = parsed(text);
    const elements = (count: number, value: number): Uint8Array =>
      new Uint8Array(Uint16Array.from({ length: count }, () => value).buffer);
    const inputs = [
      elements(180, 0x3c00),
      new Uint8Array(Int32Array.of(3, 3, 1, 3, 0).buffer),
      elements(100, 0x3c01),
    ];
    const jobs: PtoJob[] = [];
    for (const residency of ["ub", "gm"] as const) {
      const kernel = compile(func, { target: targets.ascendA2, residency, tile: [5, 20], cores: 1 });
      // Names of one length, so that a place is one in each text.
      const named = (n: number): PtoJob => ptoJob(kernel, `${residency}${100 + n}`, inputs);
      const { code } = named(0).kernel;
      const start = code.indexOf("// scatter");
      const orders = [...code.slice(start).matchAll(/ *set_flag.*\n *wait_flag.*\n| *pipe_barrier.*\n/g)];
      jobs.push(named(0));
      for (const [k, { 0: order, index }] of orders.entries()) {
        const job = named(1 + k);
        const [before, after] = [start + index, start + index + order.length];
        const text = job.kernel.code;
        jobs.push({ ...job, kernel: { ...job.kernel, code: text.slice(0, before) + text.slice(after) } });
      }
    }
    const verdicts = await runPto(jobs);
    const passed = jobs.flatMap(({ kernel }, k) => (verdicts[k]!.fault === "" ? [kernel.entryPoint] : []));
    // Two conversions need no order, nor does a pipe that a later sync waits for.
    const implied = ["ub103", "ub107", "gm104", "gm105", "gm110"];
    expect(passed.toSorted()).toEqual(
      ["ub100", "gm100", ...implied].map((name) => `tilec_kernel_${name}`).toSorted(),
    );
    expect(jobs.length).toBe(20);
  });

  it("are refused or conditional by the steps of one element", () => {
    const kernel = (combine: string, type: string, points: number, duplicates = ""): Kernel => {
      const text =
        `func @f(%x: tensor<9x${type}>, %i: tensor<${points}xi32>, %u: tensor<${points}x${type}>) -> tensor<9x${type}> {\n` +
        `  %y = access.scatter %x, %i, %u (d0 < ${points}) -> (%i[d0]) yield %u[d0] {oob = error, combine = ${combine}${duplicates}}\n` +
        "  return %y\n}\n";
      return compile(parsed(text), {
        target: targets.ascendA2,
        residency: "ub",
      });
    };
    const conditions = (...args: Parameters<typeof kernel>): readonly string[] =>
      kernel(...args)
        .pto()
        .assumes.map(({ operand, least, below }) => `${operand} ${least ?? "-"} ${below ?? "-"}`);
    // One step is a sum of two elements: multiples of 2^-126 below 2^128 where they are at least 2^-103 and below 2^127.
    expect(conditions("add", "f32", 5, ", duplicates = unique")).toEqual(["x -103 127", "u -103 127"]);
    // Elements of f16 are no subnormals of f32; two of them stay below 2^16.
    expect(conditions("add", "f16", 5, ", duplicates = unique")).toEqual(["x - 15", "u - 15"]);
    expect(conditions("mul", "f32", 5, ", duplicates = unique")).toEqual(["x -63 64", "u -63 64"]);
    expect(() => kernel("mul", "f32", 33).pto()).toThrow("33 points may meet in an element");
    expect(() => kernel("max", "f16", 5).pto()).toThrow("zeros of two signs");
    const [x, i, u] = [new Float32Array(9), Int32Array.of(0, 0), new Float32Array(2)];
    const sum = kernel("add", "f32", 2);
    expect(meets(sum, { x, i, u })).toEqual({ ok: true });
    expect(meets(sum, { x, i, u: Float32Array.of(0, 2 ** -130) })).toEqual({
      ...{ ok: false, operand: "u", element: 1, value: 2 ** -130 },
      bound: "0 or at least 2^-103",
    });
  });

  it("are met by elements that no point combines, whatever these are", () => {
    const text =
      "func @f(%x: tensor<4xf32>, %i: tensor<3xi32>, %u: tensor<3xf32>) -> tensor<4xf32> {\n" +
      "  %y = access.scatter %x, %i, %u (d0 < 3) -> (%i[d0]) yield %u[d0] {oob = skip, combine = add}\n" +
      "  return %y\n}\n";
    const func = parsed(text);
    const sum = compile(func, { target: targets.ascendA2, residency: "ub" });
    // Points write elements 1 and 3; the third is skipped.
    const met = (x: readonly number[], u: readonly number[]) =>
      meets(sum, { x: Float32Array.from(x), i: Int32Array.of(1, 3, 4), u: Float32Array.from(u) });
    expect(met([NaN, 1, 2 ** -140, 1], [1, 1, Infinity])).toEqual({ ok: true });
    expect(met([1, 1, 1, NaN], [1, 1, 1])).toMatchObject({ ok: false, operand: "x", element: 3 });
    expect(met([1, 1, 1, 1], [1, NaN, 1])).toMatchObject({ ok: false, operand: "u", element: 1 });
    expect(sum.pto().code).toContain("// the stated bits where each element that enters a computation is\n");
  });
});

describe("a constant of a scatter's points", () => {
  it("is what its casts come to", async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const of = (type: string, value: string, name: string, bytes: number): PtoJob => {
      const text =
        `func @f(%x: tensor<4x${type}>, %i: tensor<1xi32>) -> tensor<4x${type}> {\n` +
        `  %y = access.scatter %x, %i (d0 < 1) -> (%i[d0]) yield ${value} {oob = error, duplicates = last}\n` +
        "  return %y\n}\n";
      const func = parsed(text);
      const kernel = compile(func, { target: targets.ascendA2, residency: "ub" });
      return ptoJob(kernel, name, [new Uint8Array(bytes), new Uint8Array(Int32Array.of(2).buffer)]);
    };
    const verdicts = await runPto([
      // 300 saturates, 1.8 is cut, and the f16 next to 1.1 is 1.099609375.
      of("i8", "i8(f32(0x43960000))", "c0", 4),
      of("i8", "i8(f32(0x3fe66666))", "c1", 4),
      of("f32", "f32(f16(f32(0x3f8ccccd)))", "c2", 16),
    ]);
    expect(verdicts.map(({ fault }) => fault)).toEqual(["", "", ""]);
    const [saturated, cut, rounded] = verdicts.map(({ output }) => Uint8Array.from(output));
    expect([...saturated!]).toEqual([0, 0, 127, 0]);
    expect([...cut!]).toEqual([0, 0, 1, 0]);
    expect([...new Float32Array(rounded!.buffer)]).toEqual([0, 0, 1.099609375, 0]);
  });

  it("and an element that is read are of the output's type, or refused", () => {
    for (const [update, value] of [
      [", %u: tensor<4xf32>", "%u[d0]"],
      ["", "f32(0x3f800000)"],
    ] as const) {
      const text =
        `func @f(%x: tensor<9xf16>, %i: tensor<4xi32>${update}) -> tensor<9xf16> {\n` +
        `  %y = access.scatter %x, %i${update === "" ? "" : ", %u"} (d0 < 4) -> (%i[d0]) yield ${value} {oob = error, combine = add}\n` +
        "  return %y\n}\n";
      const func = parsed(text);
      const kernel = compile(func, { target: targets.ascendA2, residency: "ub" });
      expect(() => kernel.pto()).toThrow("no form for a scatter of a value that is computed");
    }
  });
});

describe("what explain says of a scatter's bits on Ascend cores", () => {
  const answer = (rest: string, value = "%u[d0]") => {
    const text =
      "func @f(%x: tensor<9xf32>, %i: tensor<4xi32>, %u: tensor<4xf32>) -> tensor<9xf32> {\n" +
      `  %y = access.scatter %x, %i, %u (d0 < 4) -> (%i[d0]) yield ${value} {oob = error, ${rest}}\n` +
      "  return %y\n}\n";
    const func = parsed(text);
    return explain(func, { target: targets.ascendA2 }).ascend;
  };

  it("has the conditions of the text, and the reason of its refusal", () => {
    expect(answer("combine = add, duplicates = unique")).toEqual({
      ok: true,
      assumes: ["x", "u"].map((operand) => ({ operand, finite: true, least: -103, below: 127 })),
    });
    expect(answer("combine = max")).toMatchObject({
      ok: false,
      refused: expect.stringContaining("max of f32"),
    });
  });

  it("is nothing where elements are moved, or a value is computed, for which there is no text", () => {
    expect(answer("duplicates = last")).toBeUndefined();
    expect(answer("duplicates = last", "%u[d0] * %u[d0]")).toBeUndefined();
    expect(answer("combine = add", "%u[d0] * %u[d0]")).toBeUndefined();
  });

  it("is nothing where a point may combine fill bits, for which there is no text", () => {
    const text =
      "func @f(%x: tensor<9xf32>, %i: tensor<4xi32>, %j: tensor<4xi32>, %u: tensor<5xf32>) -> tensor<9xf32> {\n" +
      "  %y = access.scatter %x, %i, %j, %u (d0 < 4) let t = zero(%j[d0] in 5) -> (%i[d0]) yield %u[t] {oob = error, combine = add, fill = 2139095039}\n" +
      "  return %y\n}\n";
    const func = parsed(text);
    const kernel = compile(func, { target: targets.ascendA2, residency: "ub" });
    expect(() => kernel.pto()).toThrow("no form for an index value that only the written value needs");
    expect(explain(func, { target: targets.ascendA2 }).ascend).toBeUndefined();
  });
});

/** A scatter of rows, as text: an index of one or two dims, rows of one or two, columns that are shifted. */
function rowsText(draw: Draw): string {
  const pick = <T>(list: readonly T[]): T => list[draw(list.length)]!;
  const dtype = pick(["i8", "f16", "f32", "i64", "c128", "bool"] as const);
  const policy = pick(["skip", "clamp", "wrap", "error"] as const);
  const [rows, slots, inner, columns] = [1 + draw(9), 1 + draw(7), 1 + draw(3), 1 + draw(20)];
  const isDeep = draw(2) === 0;
  const more = draw(3) === 0 ? 0 : draw(3);
  const base = isDeep ? `${rows}x${inner}x${columns + more}` : `${rows}x${columns + more}`;
  const update = isDeep ? `${slots}x${inner}x${columns}` : `${slots}x${columns}`;
  const dims = (isDeep ? [slots, inner, columns] : [slots, columns])
    .map((extent, d) => `d${d} < ${extent}`)
    .join(", ");
  const rest = isDeep ? "d1, d2" : "d1";
  const inout = draw(2) === 0 ? "inout " : "";
  const index = pick(["i32", "i64", "u8"] as const);
  return (
    `func @rows(%x: ${inout}tensor<${base}x${dtype}>, %i: tensor<${slots}x${index}>, %u: tensor<${update}x${dtype}>) -> tensor<${base}x${dtype}> {\n` +
    `  %y = access.scatter %x, %i, %u (${dims}) let t = ${policy}(%i[d0] in ${rows}) -> (t, ${rest}) yield %u[d0, ${rest}] {oob = error, duplicates = last}\n` +
    "  return %y\n}\n"
  );
}

describe("random scatters of rows to global memory", () => {
  it("give the reference's bits, or tell of the bad index", { timeout: 600_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const trials: Expected[] = [];
    const counts = { inPlace: 0, copies: 0, rejected: 0, rows: 0 };
    for (let seed = 0; seed < 260; seed++) {
      const draw = drawer(seed * 31 + 7);
      const text = rowsText(draw);
      const func = parsedAccess(text);
      const entries = func.map.domain.map((extent) => 1 + draw(extent));
      const tile = draw(3) === 0 ? func.map.domain : entries;
      const options = { target: ascend[draw(3)]!, residency: "gm", tile, cores: 1 + draw(3) } as const;
      const compiled = tryCompile(func, options);
      // A tile of few columns takes a slot in several tasks; of few slots and inner rows, out of order.
      if (!compiled.ok) {
        expect(compiled.diagnostics.map(({ code }) => code)).toContain("TC301");
        continue;
      }
      const { kernel } = compiled;
      const tensors = inputsOf(kernel.tile).map(({ name, type }) => {
        const bytes = Uint8Array.from({ length: byteCount(type) }, () => draw(256));
        // Indices of one byte are near the extent, whatever their type.
        if (name === "i")
          for (let k = 0; k < bytes.length; k++)
            bytes[k] = k % bytesOfElement(type.dtype) === 0 ? draw(11) : 0;
        return [
          name,
          toHost(name, type, type.dtype === "bool" ? bytes.map((byte) => byte & 1) : bytes),
        ] as const;
      });
      const inputs = Object.fromEntries(tensors);
      const output = await reference(kernel, inputs);
      const given = tensors.map(([, { bytes }]) => Uint8Array.from(bytes));
      const job = ptoJob(kernel, `k${trials.length}`, given);
      if (text.includes("inout")) counts.inPlace++;
      else counts.copies++;
      if (output === undefined) counts.rejected++;
      if (job.kernel.code.includes("TSTORE")) counts.rows++;
      trials.push({ job, text: `${text}\n${job.kernel.code}`, output });
    }
    expect(await objectionsTo(trials)).toEqual([]);
    expect(counts.rows).toBe(trials.length);
    expect(counts.inPlace).toBeGreaterThan(60);
    expect(counts.copies).toBeGreaterThan(60);
    expect(counts.rejected).toBeGreaterThan(10);
  });
});

describe("a PTO-ISA kernel of a scatter", () => {
  it("is as reviewed: rows in place, and integers added in place behind a check", async () => {
    const rows = pypto.scatterUpdate({
      input: ["bf16", [64, 40]],
      index: ["i64", [9, 2]],
      src: ["bf16", [18, 40]],
    });
    const sums = pypto.scatterInPlace({
      input: ["i16", [10, 24]],
      index: ["i32", [7, 12]],
      src: ["i16", [7, 12]],
      dim: 1,
      reduce: "add",
    });
    const text = (func: typeof rows, options: CompileOptions): string =>
      compile(func, { ...options, cores: 2, target: targets.ascendA2 }).pto().code;
    await expect(text(rows, { tile: [4, 40] })).toMatchFileSnapshot("goldens/scatter-rows.cpp");
    await expect(text(sums, { tile: [2, 24], residency: "ub" })).toMatchFileSnapshot(
      "goldens/scatter-add.cpp",
    );
  });

  it("has one parameter for base and result in place, and names the entry to launch first", () => {
    const build = (oob: "error" | "skip"): Kernel =>
      compile(
        pypto.indexAddInPlace({
          input: ["i32", [9, 8]],
          index: ["i32", [4]],
          source: ["i32", [4, 8]],
          dim: 0,
          oob,
        }),
        { target: targets.ascendA2, residency: "ub" },
      );
    const { params, checkEntryPoint, code } = build("error").pto();
    expect(params.map(({ name, role }) => [name, role])).toEqual([
      ["gm_input", "output"],
      ["gm_index", "indices"],
      ["gm_source", "indices"],
      ["status", "status"],
    ]);
    expect(checkEntryPoint).toBe("tilec_kernel_index_add_check");
    expect(code).toContain(`void ${checkEntryPoint}(`);
    const skipping = build("skip").pto();
    expect(skipping.checkEntryPoint).toBeUndefined();
    expect(skipping.params.map(({ name }) => name)).not.toContain("status");
  });
});
