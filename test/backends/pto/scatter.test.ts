/** Scatters as PTO-ISA kernels on the judge: the oracle's bits, its bad index with nothing written in place, or a refusal by name. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { byteCount, inputsOf, parseModule, type Schedule } from "../../../ir/index.js";
import {
  CompileError,
  compile,
  pypto,
  RunError,
  runOn,
  targets,
  toHost,
  tryCompile,
  type CompileOptions,
  type Kernel,
} from "../../../src/index.js";
import { caseProgram } from "../../../src/formats/case-program.js";
import { readCases } from "../../../src/formats/cases.js";
import { drawer, type Draw } from "../../fuzz/mutate.js";
import { outcomeOf, textOf, type OracleScatter } from "../../oracle/scatter.js";
import { hostInputsOf } from "../../support/case-kernel.js";
import { cppCompiler, ptoJob, runPto, type PtoJob } from "../../support/pto.js";
import { randomScatter } from "../../support/random-scatter.js";
import { bytesOf, bytesOfElement, hostInputs } from "../../support/scatter-inputs.js";

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
    if (!(thrown instanceof CompileError)) throw thrown;
    const [first] = thrown.diagnostics;
    expect(first?.code).toBe("TC505");
    const reason = first!.message
      .replace("a kernel for PTO-ISA has no form for ", "")
      .replace(/ of (i|u|f|bf)\d+( with \d+,)?/, "");
    refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
    return undefined;
  }
}

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
  "single elements that are written to global memory",
  "duplicates = error, which needs an owner for each element",
  "an index value that only the written value needs",
  "a scatter of a value that is computed",
  "a scatter of sums",
  "a fill whose words differ",
  "an input that holds index values and values",
  "add: no document states its bits on the scalar unit",
  "mul: no document states its bits on the scalar unit",
  "min: no document states its bits on the scalar unit",
  "max: no document states its bits on the scalar unit",
  "add to rows in global memory",
  "mul to rows in global memory",
  "min to rows in global memory",
  "max to rows in global memory",
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
        if (job === undefined || job.kernel.blocks === 0) continue;
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
    if (!(thrown instanceof RunError)) throw thrown;
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
      const counts = { bits: 0, index: 0, inPlace: 0, combined: 0 };
      for (let seed = 0; seed < 1300; seed++) {
        const draw = drawer(seed * 23 + 5);
        const scatter = randomScatter(draw);
        const text = textOf(scatter);
        const [func] = parseModule(text, "scatter.tir").module.funcs;
        if (func?.level !== "access") throw new Error(text);
        const outcome = outcomeOf(scatter);
        const schedule = randomSchedule(scatter, draw);
        const compiled = tryCompile({ ...func, schedule }, { target: ascend[draw(3)]! });
        if (!compiled.ok) continue;
        const inputs = Object.values(hostInputs(scatter, func)).map(({ bytes }) => Uint8Array.from(bytes));
        const job = jobOf(compiled.kernel, `k${trials.length}`, inputs, refusals);
        // A broken promise leaves any of the updates; an output without elements launches nothing.
        if (job === undefined || outcome.kind === "duplicate" || job.kernel.blocks === 0) continue;
        counts[outcome.kind]++;
        if (scatter.inout) counts.inPlace++;
        if (scatter.combine !== "set") counts.combined++;
        const output =
          outcome.kind === "bits" ? bytesOf(outcome.bits, bytesOfElement(scatter.type)) : undefined;
        trials.push({ job, text: `${text}\n${compiled.kernel.text("tile")}\n${job.kernel.code}`, output });
      }
      expect(await objectionsTo(trials)).toEqual([]);
      expect(counts.bits).toBeGreaterThan(150);
      expect(counts.index).toBeGreaterThan(15);
      expect(counts.inPlace).toBeGreaterThan(40);
      expect(counts.combined).toBeGreaterThan(30);
      for (const reason of refusals.keys()) expect(reasons).toContain(reason);
      expect(refusals.get("single elements that are written to global memory")).toBeGreaterThan(0);
    },
  );
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
      const [func] = parseModule(text, "rows.tir").module.funcs;
      if (func?.level !== "access") throw new Error(text);
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
