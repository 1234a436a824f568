/** docs/claims.md: that it is what the code gives, and that each of its cells holds. */
import { describe, expect, it } from "vitest";
import { planDirect } from "../../backends/direct/plan.js";
import { runDirect } from "../../backends/direct/run.js";
import { simulateChecked, FastExecutor } from "../../backends/sim/index.js";
import { toHosts, type HostInputs } from "../../backends/index.js";
import { byteCount, inputsOf, keyOf, outputOf } from "../../ir/index.js";
import { numberOf, type ValueType } from "../../ir/values/index.js";
import { CompileError, meets, runOn, targets, type Kernel } from "../../src/index.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { widthOf, type Stored } from "../oracle/values.js";
import { runnerOr } from "../support/gpu.js";
import { cppCompiler, onMachines, ptoJob, runPto } from "../support/pto.js";
import { flat, nested, python, runPrograms } from "../support/pypto.js";
import { bytes, randomBits } from "../support/random-value.js";
import {
  claimOf,
  claimRows,
  claimsPage,
  columns,
  extents,
  kernelOf,
  wantedBits,
  type ClaimRow,
  type Column,
} from "./claims-page.js";

describe("docs/claims.md", () => {
  it("is what the code claims (npm run docs:claims writes it)", async () => {
    await expect(claimsPage()).toMatchFileSnapshot("../../docs/claims.md");
  });
});

/** Inputs of a row, and the bits that exact arithmetic gives. */
interface Trial {
  readonly inputs: HostInputs;
  /** Bits of the elements, by table. */
  readonly tables: readonly (readonly bigint[])[];
  readonly output: Uint8Array;
}

const floats = { f16: [10, 15], bf16: [7, 127], f32: [23, 127] } as const;

/** Bits of a number of few digits near 1: within every condition of the page, and next to no bound. */
function nearOne(type: Stored, draw: Draw): bigint {
  if (type !== "f16" && type !== "bf16" && type !== "f32") return randomBits(type, draw);
  const [digits, bias] = floats[type];
  if (draw(6) === 0) return BigInt(draw(2)) << BigInt(widthOf(type) - 1);
  const exponent = BigInt(bias - 3 + draw(6)) << BigInt(digits);
  return (
    exponent | (BigInt(draw(2 ** 6)) << BigInt(digits - 6)) | (BigInt(draw(2)) << BigInt(widthOf(type) - 1))
  );
}

function trialOf(
  row: ClaimRow,
  kernel: Kernel,
  bitsOf: (type: Stored, draw: Draw) => bigint,
  seed: number,
): Trial {
  const draw = drawer(seed);
  const { table, columns: width, rows, terms } = extents;
  const each = row.reduce === undefined ? 1 : terms;
  const list = (type: Stored): bigint[] => Array.from({ length: table * width }, () => bitsOf(type, draw));
  const tables: Readonly<Record<string, bigint[]>> = {
    a: list(row.a),
    ...(row.b === undefined ? {} : { b: list(row.b) }),
  };
  const indices = Array.from({ length: rows * each }, () => draw(table));
  const output = Array.from({ length: rows * width }, (_, k) => {
    const [d0, d1] = [Math.floor(k / width), k % width];
    const places = indices.slice(d0 * each, (d0 + 1) * each);
    return wantedBits(
      row,
      places.map((t) => (name: string) => tables[name]![t * width + d1]!),
    );
  });
  const own: Readonly<Record<string, Uint8Array>> = {
    ...Object.fromEntries(
      Object.entries(tables).map(([name, bits]) => [name, bytes(name === "a" ? row.a : row.b!, bits)]),
    ),
    i: bytes("i32", indices.map(BigInt)),
  };
  const names = Object.keys(own);
  const inputs = Object.fromEntries(
    inputsOf(kernel.tile).map((operand, k) => [
      keyOf(operand),
      { type: operand.type, bytes: own[names[k]!]! },
    ]),
  );
  const lists = [...Object.values(tables), indices.map(BigInt)];
  return { inputs, tables: lists, output: bytes(row.output, output) };
}

const shown = (output: Uint8Array): string => Buffer.from(output).toString("hex");
const cells = columns.flatMap((column) => claimRows.map((row) => [column, row.title, row] as const));
const of = (...own: readonly Column[]) => cells.filter(([column]) => own.includes(column));

describe("a cell of docs/claims.md", () => {
  it.each(of("reference", "checked", "fast", "direct"))("holds: %s, %s", async (column, _, row) => {
    const kernel = kernelOf(row, targets.cpu);
    const plan = planDirect(kernel.tile);
    if (column === "direct" && plan === undefined) {
      expect(claimOf(row, column)).toBe("not taken");
      return;
    }
    for (let seed = 0; seed < 4; seed++) {
      const { inputs, output } = trialOf(row, kernel, randomBits, seed);
      const found = {
        reference: async () => (await runOn("reference", kernel, inputs)).output,
        checked: () => simulateChecked(kernel.tile, inputs, kernel.target).output,
        fast: () => FastExecutor.create(kernel.tile).run(inputs).output.slice(),
        direct: () => {
          const written = new Uint8Array(byteCount(outputOf(kernel.tile).type));
          runDirect(plan!, inputs, written);
          return written;
        },
      }[column as "reference"];
      expect(shown(await found())).toBe(shown(output));
    }
  });

  it.for(of("WebGPU"))("holds: %s, %s", async ([, , row], context) => {
    const runner = await runnerOr(context);
    const kernel = kernelOf(row, targets.webgpu);
    for (let seed = 0; seed < 2; seed++) {
      const { inputs, output } = trialOf(row, kernel, randomBits, seed);
      expect(shown(await runner.runBytes(kernel, inputs))).toBe(shown(output));
    }
  });

  it("of text that is refused is TC505, by the step", () => {
    const seen = { "PTO text": 0, "PyPTO text": 0 };
    for (const [column, title, row] of of("PTO text", "PyPTO text")) {
      if (claimOf(row, column) !== "refused") continue;
      const kernel = kernelOf(row, targets.ascendA2);
      const emit = column === "PTO text" ? () => kernel.pto() : () => kernel.pypto();
      expect(emit, title).toThrow(CompileError);
      expect(emit, title).toThrow("TC505");
      seen[column as "PTO text"]++;
    }
    expect(Object.values(seen).every((count) => count > 3)).toBe(true);
  });

  it("of PTO text holds on every machine of the judge", { timeout: 300_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const claimed = of("PTO text").filter(([column, , row]) => claimOf(row, column) !== "refused");
    const made = claimed.flatMap(([column, title, row], k) => {
      const kernel = kernelOf(row, targets.ascendA2);
      const isConditional = claimOf(row, column) === "conditional";
      const trial = trialOf(row, kernel, isConditional ? nearOne : randomBits, 1);
      const { inputs, output } = trial;
      expect(meets(kernel, arraysOf(kernel, trial)), title).toEqual({ ok: true });
      return onMachines(
        ptoJob(
          kernel,
          `k${k}`,
          Object.values(inputs).map((own) => own.bytes),
        ),
      ).map((job) => ({ title, job, output }));
    });
    const found = await runPto(made.map(({ job }) => job));
    found.forEach(({ fault, output }, k) => {
      const { title, output: wanted } = made[k]!;
      expect([title, fault, shown(output)]).toEqual([title, "", shown(wanted)]);
    });
    expect(found.length).toBeGreaterThan(0);
  });

  it("that is conditional is no more where an element is NaN", () => {
    for (const [column, title, row] of of("PTO text")) {
      if (claimOf(row, column) !== "conditional") continue;
      const kernel = kernelOf(row, targets.ascendA2);
      const operand = kernel.pto().assumes[0]!.operand;
      const nan = (type: Stored, draw: Draw): bigint =>
        type === "f32" ? 0x7fc00000n : type === "f16" ? 0x7e00n : randomBits(type, draw);
      const trial = trialOf(row, kernel, nan, 2);
      expect(meets(kernel, arraysOf(kernel, trial)), title).toMatchObject({
        ok: false,
        operand,
        bound: "finite",
      });
    }
  });

  it("of PyPTO text holds on the stand-in", (context) => {
    if (python() === undefined) return context.skip();
    const claimed = of("PyPTO text").filter(([column, , row]) => claimOf(row, column) !== "refused");
    const made = claimed.map(([, title, row]) => {
      const kernel = kernelOf(row, targets.ascendA2);
      const trial = trialOf(row, kernel, nearOne, 3);
      const inputs = inputsOf(kernel.tile).map(({ type }, table) =>
        nested(type.shape, (k) => numberOf(type.dtype as ValueType, Number(trial.tables[table]![k]!))),
      );
      const { dtype } = outputOf(kernel.tile).type;
      const units =
        dtype === "f16" ? new Uint16Array(trial.output.buffer) : new Uint32Array(trial.output.buffer);
      return {
        title,
        job: { kernel, inputs },
        wants: Array.from(units, (unit) => numberOf(dtype as ValueType, unit)),
      };
    });
    expect(made.length).toBeGreaterThan(3);
    runPrograms(made.map(({ job }) => job)).forEach(({ output }, k) => {
      const { title, wants } = made[k]!;
      expect([title, flat(output)]).toEqual([title, wants]);
    });
  });
});

/** The inputs of a trial as typed arrays, by the operands' keys. */
function arraysOf(kernel: Kernel, { inputs }: Trial): Parameters<typeof meets>[1] {
  const arrays = Object.fromEntries(
    inputsOf(kernel.tile).map((operand) => {
      const { bytes: own } = inputs[keyOf(operand)]!;
      const { dtype } = operand.type;
      const copy = own.slice().buffer;
      const array =
        dtype === "f32"
          ? new Float32Array(copy)
          : dtype === "i32"
            ? new Int32Array(copy)
            : dtype === "f16"
              ? new Uint16Array(copy)
              : new Int8Array(copy);
      return [keyOf(operand), array];
    }),
  );
  toHosts(kernel.tile, arrays);
  return arrays;
}
