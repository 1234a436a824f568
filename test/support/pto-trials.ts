/** Random gathers under random schedules, as kernels on the judge: the oracle's bits, or its bad index. */
import fc from "fast-check";
import { CompileError, outputOf, type Schedule, type Target } from "../../ir/index.js";
import { onnx, pypto, targets, tryCompile, type Kernel } from "../../src/index.js";
import { longGather, randomSchedule, scheduledGather, type RandomGather } from "./arbitrary.js";
import { expectedBytes } from "./expected.js";
import { operandOf } from "./operands.js";
import { ptoJob, runPto, type PtoJob } from "./pto.js";

export interface Scheduled {
  readonly random: RandomGather;
  readonly schedule: Schedule;
  readonly target: Target;
  /** Bytes of UB beside the program's own buffers, in place of the target's. */
  readonly spare?: number;
}

/** Half of the programs with 32-bit indices clamp them: what one TGATHER for a tile, and MGATHER, take. */
function clamping(random: RandomGather): RandomGather {
  const { func, indices, gather } = random;
  if (operandOf(func, "indices").type.dtype !== "i32" || indices.length % 2 === 1) return random;
  return {
    ...random,
    func: { ...func, attrs: { ...func.attrs, oob: "clamp" } },
    gather: { ...gather, policy: "clamp" },
  };
}

const extent = (most: number) => fc.integer({ min: 1, max: most });

/** Rows of a table in global memory, by a list of 32-bit indices. */
const tableRows: fc.Arbitrary<Scheduled> = fc
  .record({
    rows: extent(9),
    columns: extent(70),
    values: fc.array(fc.integer({ min: -12, max: 12 }), { minLength: 1, maxLength: 40 }),
    dtype: fc.constantFrom("u8" as const, "f16" as const, "f32" as const),
    policy: fc.constantFrom("clamp" as const, "zero" as const, "unchecked" as const),
    dialect: fc.constantFrom("onnx" as const, "pypto" as const),
    target: fc.constantFrom(targets.ascendA2, targets.ascendA3, targets.ascend950),
    tile: fc.tuple(extent(40), extent(70)),
    buffers: fc.constantFrom(1 as const, 2 as const),
    cores: extent(4),
  })
  .map(({ rows, columns, values: any, dtype, policy, dialect, target, ...schedule }) => {
    const fromEnd = dialect === "onnx";
    // What the caller promised is kept.
    const values = policy === "unchecked" ? any.map((value) => Math.abs(value) % rows) : any;
    const dataShape = [rows, columns];
    const func = fromEnd
      ? onnx.gather({ data: [dtype, dataShape], indices: ["i32", [values.length]], oob: policy })
      : pypto.indexSelect({
          input: [dtype, dataShape],
          index: ["i32", [values.length]],
          dim: 0,
          oob: policy,
        });
    const size = { u8: 1, f16: 2, f32: 4 }[dtype];
    return {
      random: {
        func,
        gather: {
          op: "gather",
          axis: 0,
          batchDims: 0,
          dataShape,
          indexShape: [values.length],
          fromEnd,
          // Nothing is outside where the caller promised that.
          policy: policy === "unchecked" ? "error" : policy,
        },
        dtype,
        data: Uint8Array.from({ length: rows * columns * size }, (_, k) => (k * 31 + (k >> 5)) % 256),
        indices: values.map(BigInt),
        indexBytes: new Uint8Array(Int32Array.from(values).buffer),
      },
      schedule: { ...schedule, residency: "gm", profile: "head", lowering: "mgather" },
      target,
    };
  });

const anyGather: fc.Arbitrary<Scheduled> = fc
  .oneof(
    scheduledGather,
    longGather.chain((random) =>
      randomSchedule(outputOf(random.func).type.shape.length).map((choice) => ({ random, ...choice })),
    ),
  )
  .map(({ random, schedule, target }) => ({
    random: clamping(random),
    schedule: { ...schedule, profile: "head" },
    target: target.vectorGatherBytes.length > 0 ? target : targets.ascendA3,
  }));

/** The vector unit, which a few elements are not worth, with little room half of the time: then the output is worked in strips. */
const flatGather: fc.Arbitrary<Scheduled> = fc
  .tuple(anyGather, fc.option(fc.integer({ min: 0, max: 3000 })))
  .map(([{ schedule, ...rest }, spare]) => ({
    ...rest,
    schedule: { ...schedule, residency: "ub", lowering: "flat" },
    ...(spare === null ? {} : { spare }),
  }));

export const ascendGather: fc.Arbitrary<Scheduled> = fc.oneof(
  { arbitrary: anyGather, weight: 15 },
  { arbitrary: flatGather, weight: 10 },
  { arbitrary: tableRows, weight: 3 },
);

export interface Trial {
  readonly kernel: Kernel;
  readonly job: PtoJob;
  /** The oracle's bytes; absent for an index out of range. */
  readonly bytes?: Uint8Array;
}

/** What refuses a program, or the program as a kernel. */
export function trialOf(scheduled: Scheduled, name: string): Trial | CompileError {
  const { random, schedule, target, spare } = scheduled;
  const roomy = tryCompile(random.func, { ...schedule, target });
  const tight = roomy.ok && spare !== undefined ? roomy.kernel : undefined;
  const result =
    tight?.footprint === undefined
      ? roomy
      : tryCompile(random.func, {
          ...tight.access?.schedule,
          ubBytes: tight.footprint.planned + (spare ?? 0),
          target,
        });
  if (!result.ok) return new CompileError(result.diagnostics);
  const { kernel } = result;
  try {
    const job = ptoJob(kernel, name, [random.data, random.indexBytes]);
    const bytes = expectedBytes(random);
    return { kernel, job, ...(typeof bytes === "number" ? {} : { bytes }) };
  } catch (thrown) {
    if (thrown instanceof CompileError) return thrown;
    throw thrown;
  }
}

/** What is wrong with each; empty where nothing is. */
export async function objectionsTo(trials: readonly Trial[]): Promise<readonly string[]> {
  const verdicts = await runPto(trials.map(({ job }) => job));
  return verdicts.map(({ fault, status, output }, k) => {
    const { bytes } = trials[k]!;
    if (fault !== "") return fault;
    if (status !== (bytes === undefined)) return status ? "tells of a bad index" : "tells of no bad index";
    return bytes === undefined || Buffer.compare(bytes, output) === 0 ? "" : "other bits";
  });
}
