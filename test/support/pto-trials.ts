/** Random gathers under random schedules, as kernels on the judge: the oracle's bits, or its bad index. */
import fc from "fast-check";
import {
  bytesOf,
  CompileError,
  elementCount,
  type Func,
  type Schedule,
  type Target,
} from "../../ir/index.js";
import { onnx, pypto, targets, tryCompile, type Kernel } from "../../src/index.js";
import { anyScheduledGather, type RandomGather } from "./arbitrary.js";
import { expectedBytes } from "./expected.js";
import { operandOf } from "./operands.js";
import { canTell, ptoJob, runPto, type PtoJob } from "./pto.js";
import { parsed } from "./parsed.js";

export interface Scheduled {
  readonly random: Omit<RandomGather, "func"> & { readonly func: Func };
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

const anyGather: fc.Arbitrary<Scheduled> = anyScheduledGather.map(({ random, schedule, target }) => ({
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

const ascend = fc.constantFrom(targets.ascendA2, targets.ascendA3, targets.ascend950);

/** Indices of every type, as maps: few dialects have those of 8 and 16 bits. Wrapping is by a power of two, half of the time. */
const everyIndexType: fc.Arbitrary<Scheduled> = fc
  .record({
    indexType: fc.constantFrom("i8", "u8", "i16", "u16", "u32", "i64", "u64"),
    dtype: fc.constantFrom("u8" as const, "f16" as const, "f32" as const, "f64" as const),
    policy: fc.constantFrom("error" as const, "clamp" as const, "zero" as const, "wrap" as const),
    kind: fc.constantFrom("elements 0", "elements 1", "gather 0", "gather 1"),
    fromEnd: fc.boolean(),
    extent: fc.oneof(extent(9), fc.constantFrom(4, 8, 64, 200, 256, 300)),
    other: extent(30),
    picks: extent(40),
    spread: fc.constantFrom(0, 0, 0, 3, 40_000),
    values: fc.infiniteStream(fc.nat(2 ** 31 - 1)),
    target: ascend,
    residency: fc.constantFrom("ub" as const, "ub" as const, "ub" as const, "gm" as const),
    lowering: fc.constantFrom("flat" as const, undefined),
    buffers: fc.constantFrom(1 as const, 2 as const),
    tile: fc.tuple(extent(40), extent(40)),
    cores: extent(3),
    spare: fc.option(fc.integer({ min: 0, max: 3000 })),
  })
  .map(({ indexType, dtype, policy, kind, fromEnd, extent: n, other, picks, spread, ...rest }) => {
    const axis = kind.endsWith("0") ? 0 : 1;
    const paired = kind.startsWith("elements");
    const dataShape = axis === 0 ? [n, other] : [other, n];
    const indexShape = !paired ? [picks] : axis === 0 ? [picks, other] : [other, picks];
    const output = axis === 0 ? [picks, other] : [other, picks];
    const bits = Number(indexType.slice(1));
    const signed = indexType.startsWith("i");
    const low = fromEnd && signed ? -Math.min(n, 2 ** (bits - 1)) : 0;
    const most = Math.min(n, 2 ** (signed ? bits - 1 : bits));
    const indices = Array.from({ length: elementCount(indexShape) }, (): bigint => {
      const value: number = rest.values.next().value;
      const far = spread > 0 && value % 7 === 0;
      const own = BigInt(far ? (value % (2 * spread)) - spread : low + (value % (most - low)));
      const wide = far && bits === 64 && value % 2 === 0 ? own + 2n ** 33n : own;
      return signed ? BigInt.asIntN(bits, wide) : BigInt.asUintN(bits, wide);
    });
    const bytes = bits / 8;
    const indexBytes = new Uint8Array(indices.length * bytes);
    indices.forEach((value, k) => {
      for (let b = 0; b < bytes; b++)
        indexBytes[k * bytes + b] = Number(BigInt.asUintN(8, value >> BigInt(8 * b)));
    });
    const tensor = (shape: readonly number[], of: string): string => `tensor<${[...shape, of].join("x")}>`;
    const read = `%indices[${paired ? "d0, d1" : `d${axis}`}]`;
    const picked = fromEnd ? `from_end(${read})` : read;
    const text = `
func @gather(%data: ${tensor(dataShape, dtype)}, %indices: ${tensor(indexShape, indexType)}) -> ${tensor(output, dtype)} target("ascend-a2") {
  %output = access.gather %data, %indices (d0, d1) -> (${axis === 0 ? `${picked}, d1` : `d0, ${picked}`}) {oob = ${policy}}
  return %output
}
`;
    const func = parsed(text);
    const { target, spare, lowering, residency, ...schedule } = rest;
    const size = bytesOf(dtype);
    return {
      random: {
        func,
        gather: {
          op: paired ? "gather_elements" : "gather",
          axis,
          batchDims: 0,
          dataShape,
          indexShape,
          fromEnd: fromEnd && signed,
          policy,
        },
        dtype,
        data: Uint8Array.from(
          { length: elementCount(dataShape) * size },
          (_, k) => (k * 37 + (k >> 6)) % 256,
        ),
        indices,
        indexBytes,
      },
      schedule: {
        tile: schedule.tile,
        buffers: schedule.buffers,
        cores: schedule.cores,
        residency,
        profile: "head",
        ...(lowering === undefined || residency === "gm" ? {} : { lowering }),
      },
      target,
      ...(spare === null ? {} : { spare }),
    };
  });

/** Rows in global memory, many of them and of few: neighbours ascend, descend and are one row. By one index, or by two. */
const fetchedRows: fc.Arbitrary<Scheduled> = fc
  .record({
    indexType: fc.constantFrom("i32" as const, "i64" as const),
    dtype: fc.constantFrom("u8" as const, "f16" as const, "f32" as const, "f64" as const),
    policy: fc.constantFrom("error" as const, "clamp" as const, "zero" as const, "wrap" as const),
    kind: fc.constantFrom("rows" as const, "inner rows" as const, "lists of rows" as const, "pairs" as const),
    // Members of a tuple with equal extents are resolved together.
    lengths: fc.oneof(
      fc.tuple(fc.constantFrom(1, 2, 3, 4, 8, 9), fc.constantFrom(1, 2, 4, 7)),
      fc.constantFrom<[number, number]>([3, 3], [8, 8]),
    ),
    box: fc.oneof(fc.tuple(extent(40)), fc.constantFrom([2, 8], [3, 32])),
    picks: fc.integer({ min: 8, max: 60 }),
    spread: fc.constantFrom(0, 0, 2),
    values: fc.infiniteStream(fc.nat(2 ** 31 - 1)),
    target: ascend,
    buffers: fc.constantFrom(1 as const, 2 as const),
    tile: fc.tuple(extent(4), fc.integer({ min: 4, max: 64 }), extent(40)),
    cores: extent(3),
    spare: fc.option(fc.integer({ min: 0, max: 3000 })),
  })
  .map(({ indexType: any, dtype, policy, kind, lengths: [n, m], box, picks, spread, values, ...rest }) => {
    const tuples = kind === "pairs";
    const indexType = tuples ? "i64" : any;
    const dataShape = [...(kind === "rows" || kind === "lists of rows" ? [n] : [n, m]), ...box];
    const axis = kind === "inner rows" ? 1 : 0;
    const list = kind === "lists of rows" ? [3, picks] : [picks];
    const indexShape = tuples ? [picks, 2] : list;
    const indices = Array.from({ length: elementCount(indexShape) }, (_, k): bigint => {
      const value: number = values.next().value;
      const below = dataShape[tuples ? k % 2 : axis]!;
      const far = spread > 0 && value % 5 === 0;
      return BigInt(far ? (value % (4 * below)) - 2 * below : (value % (2 * below)) - below);
    });
    const attrs = { data: [dtype, dataShape] as const, oob: policy };
    const index = [indexType, indexShape] as const;
    const func = tuples
      ? onnx.gatherNd({ ...attrs, indices: index })
      : onnx.gather({ ...attrs, indices: index, axis });
    const { target, spare, tile, ...schedule } = rest;
    const [outer, along, row] = tile;
    const boxes = box.length === 1 ? [row] : [...box.slice(0, 1), ...box.slice(1)];
    const leading =
      axis === 1 ? [Math.min(outer, n), along] : kind === "lists of rows" ? [outer, along] : [along];
    return {
      random: {
        func,
        gather: {
          op: tuples ? "gather_nd" : "gather",
          axis,
          batchDims: 0,
          dataShape,
          indexShape,
          fromEnd: true,
          policy,
        },
        dtype,
        data: Uint8Array.from(
          { length: elementCount(dataShape) * bytesOf(dtype) },
          (_, k) => (k * 37 + (k >> 6)) % 256,
        ),
        indices,
        indexBytes: new Uint8Array(
          (indexType === "i64" ? BigInt64Array.from(indices) : Int32Array.from(indices.map(Number))).buffer,
        ),
      },
      schedule: {
        ...schedule,
        tile: [...leading, ...boxes],
        residency: "gm" as const,
        profile: "head" as const,
        lowering: "row-fetch" as const,
      },
      target,
      ...(spare === null ? {} : { spare }),
    };
  });

export const ascendGather: fc.Arbitrary<Scheduled> = fc.oneof(
  { arbitrary: anyGather, weight: 15 },
  { arbitrary: flatGather, weight: 10 },
  { arbitrary: tableRows, weight: 3 },
  { arbitrary: everyIndexType, weight: 5 },
  { arbitrary: fetchedRows, weight: 5 },
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
    const { bytes, job } = trials[k]!;
    if (fault !== "") return fault;
    if (status !== (bytes === undefined && canTell(job)))
      return status ? "tells of a bad index" : "tells of no bad index";
    return bytes === undefined || Buffer.compare(bytes, output) === 0 ? "" : "other bits";
  });
}
