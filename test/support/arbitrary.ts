/** Random gathers with their data, and random schedules for them. */
import fc from "fast-check";
import {
  type DType,
  dtypes,
  elementCount,
  isPacked,
  meanBytes,
  outputOf,
  type Schedule,
  type SourceFunc,
  type Target,
  type TileFunc,
} from "../../ir/index.js";
import { targets, tryProgram } from "../../src/index.js";
import type { OracleGather, Policy } from "../oracle/gather.js";
import { operandOf } from "./operands.js";

export interface RandomGather {
  readonly func: SourceFunc;
  readonly gather: OracleGather;
  readonly dtype: DType;
  readonly data: Uint8Array;
  readonly indices: readonly bigint[];
  readonly indexBytes: Uint8Array;
}

const policies: readonly Policy[] = ["error", "clamp", "zero", "wrap"];
/** Extents by rank, so that no tensor grows beyond some thousands of elements. */
const mostExtent: readonly number[] = [6, 6, 6, 6, 4, 3, 2, 2];

interface Seedling {
  readonly op: OracleGather["op"];
  readonly dialect: "onnx" | "directml" | "pypto";
  readonly dtype: DType;
  readonly indexType: "i32" | "i64" | "u32" | "u64";
  readonly policy: Policy;
  readonly dims: readonly number[];
  readonly other: readonly number[];
  readonly pick: number;
  readonly spread: number;
  readonly seed: number;
}

const seedling: fc.Arbitrary<Seedling> = fc.record({
  op: fc.constantFrom("gather", "gather_elements", "gather_nd"),
  dialect: fc.constantFrom("onnx", "onnx", "directml", "pypto"),
  dtype: fc.constantFrom(...dtypes.filter((dtype) => !isPacked(dtype))),
  indexType: fc.constantFrom("i32", "i64", "u32", "u64"),
  policy: fc.constantFrom(...policies),
  dims: fc
    .array(fc.nat(6), { minLength: 1, maxLength: 8 })
    .map((dims) => dims.map((extent) => Math.min(extent, mostExtent[dims.length - 1]!))),
  other: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 0, maxLength: 3 }),
  pick: fc.nat(10_000),
  /** 0: in range; more: how far beyond. */
  spread: fc.constantFrom(0, 0, 1, 4),
  seed: fc.nat(1_000_000),
});

const drawer = (seed: number) => {
  let state = seed + 1;
  return (limit: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return limit <= 0 ? 0 : (state >>> 8) % limit;
  };
};

function grow(s: Seedling): RandomGather | undefined {
  const data = s.dims.map((extent, k) => (k === s.pick % s.dims.length ? Math.max(1, extent) : extent));
  const axis = s.pick % data.length;
  const batchDims = s.op === "gather_nd" && s.dialect !== "pypto" ? s.pick % Math.min(2, data.length) : 0;
  let indices: number[];
  if (s.op === "gather") indices = [...s.other];
  else if (s.op === "gather_elements") {
    const shorter = (k: number): number => (s.dialect === "directml" ? 0 : (s.pick >> k) % 2);
    indices = data.map((extent, k) => (k === axis ? 1 + (s.pick % 7) : Math.max(0, extent - shorter(k))));
  } else {
    const tuple = 1 + (s.pick % (data.length - batchDims));
    indices = [...data.slice(0, batchDims), ...s.other.slice(0, 2), tuple];
  }
  const attrs: Record<string, number | string> = { oob: s.policy };
  let op = `${s.dialect}.${s.op}`;
  let [dataShape, indexShape] = [data, indices];
  if (s.dialect === "pypto") {
    if (s.op === "gather_nd") return undefined;
    op = s.op === "gather" ? "pypto.index_select" : "pypto.gather";
    attrs["dim"] = s.pick % 3 === 0 ? axis - data.length : axis;
    // Every type and rank, whatever the profile.
    attrs["level"] = "head";
  } else if (s.dialect === "onnx") {
    if (s.op === "gather_nd") attrs["batch_dims"] = batchDims;
    else attrs["axis"] = s.pick % 3 === 0 ? axis - data.length : axis;
  } else {
    // DirectML: one DimensionCount for all, leading ones in front.
    const rank = Math.max(
      data.length,
      indices.length,
      s.op === "gather" ? data.length + indices.length - 1 : 0,
      1,
    );
    if (s.op === "gather_elements") attrs["axis"] = axis;
    else {
      dataShape = [...new Array<number>(rank - data.length).fill(1), ...data];
      indexShape = [...new Array<number>(rank - indices.length).fill(1), ...indices];
    }
    if (s.op === "gather")
      Object.assign(attrs, { axis: axis + rank - data.length, index_dimensions: indices.length });
    if (s.op === "gather_nd") {
      op = "directml.gather_nd1";
      Object.assign(attrs, {
        input_dimension_count: data.length,
        indices_dimension_count: indices.length,
        batch_dimension_count: batchDims,
      });
    }
  }
  const result = tryProgram({
    op,
    attrs,
    data: { dtype: s.dtype, shape: dataShape },
    indices: { dtype: s.indexType, shape: indexShape },
  });
  if (!result.ok) return undefined;

  const draw = drawer(s.seed);
  const bytes = Uint8Array.from({ length: elementCount(data) * meanBytes(s.dtype) }, () => draw(256));
  const tuple = indices[indices.length - 1] ?? 1;
  const signed = s.indexType === "i32" || s.indexType === "i64";
  const fromEnd = s.dialect !== "pypto";
  const values = Array.from({ length: elementCount(indices) }, (_, k): bigint => {
    const extent = (s.op === "gather_nd" ? data[batchDims + (k % tuple)] : data[axis]) ?? 0;
    const low = signed && fromEnd ? -extent : 0;
    if (s.spread > 0 && draw(6) === 0) {
      const far = signed ? draw(2 * (extent + s.spread)) - extent - s.spread : draw(2 * (extent + s.spread));
      // Some values whose low word alone would be in range.
      return s.indexType.endsWith("64") && draw(3) === 0 ? BigInt(far) + 2n ** 32n : BigInt(far);
    }
    return BigInt(low + draw(extent - low));
  });
  const wide = s.indexType.endsWith("64");
  const indexBytes = new Uint8Array(values.length * (wide ? 8 : 4));
  const view = new DataView(indexBytes.buffer);
  values.forEach((value, k) => {
    if (wide) view.setBigUint64(8 * k, BigInt.asUintN(64, value), true);
    else view.setUint32(4 * k, Number(BigInt.asUintN(32, value)), true);
  });
  return {
    func: result.func,
    gather: {
      op: s.op,
      axis,
      batchDims,
      dataShape: data,
      indexShape: indices,
      fromEnd: fromEnd && signed,
      policy: s.policy,
    },
    dtype: s.dtype,
    data: bytes,
    indices: values,
    indexBytes,
  };
}

const longest = fc.integer({ min: 16, max: 70 });

/** The same with a long innermost dim, where kernels take many elements at once. */
export const longGather: fc.Arbitrary<RandomGather> = fc
  .tuple(seedling, longest, fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 2 }), fc.boolean())
  .map(([s, long, outer, longIndex]) =>
    grow({
      ...s,
      dims: longIndex ? [...outer, 2 + (s.pick % 5)] : [...outer, long],
      other: longIndex ? [long] : s.other.slice(0, 1),
      pick: outer.length === 0 || s.pick % 2 === 0 ? outer.length : s.pick,
    }),
  )
  .filter((grown): grown is RandomGather => grown !== undefined);

/** Programs that their dialect accepts. */
export const randomGather: fc.Arbitrary<RandomGather> = seedling
  .map(grow)
  .filter((grown): grown is RandomGather => grown !== undefined);

const copies = fc.constantFrom(1 as const, 2 as const);

/** A schedule for an output of this rank, legal or not. */
export function randomSchedule(
  rank: number,
): fc.Arbitrary<{ readonly schedule: Schedule; readonly target: Target }> {
  const entries = (most: number) =>
    fc.array(fc.integer({ min: 1, max: most }), { minLength: rank, maxLength: rank });
  const natural = Array.from({ length: rank }, (_, d) => d);
  const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: undefined });
  return fc
    .record({
      tile: maybe(entries(7)),
      view: maybe(entries(9)),
      profile: fc.constantFrom("strict", "strict", "pages", "head" as const),
      residency: fc.constantFrom("ub", "ub", "gm", "auto" as const),
      order: maybe(fc.shuffledSubarray(natural, { minLength: rank, maxLength: rank })),
      buffers: fc.oneof(
        fc.constantFrom(1 as const, 2 as const),
        fc.record(
          { data: copies, indices: copies, output: copies },
          { requiredKeys: [], noNullPrototype: true },
        ),
      ),
      cores: fc.integer({ min: 1, max: 5 }),
      ubBytes: maybe(fc.integer({ min: 64, max: 4096 })),
      target: fc.constantFrom(
        targets.ascendA2,
        targets.ascendA2,
        targets.ascend950,
        targets.webgpu,
        targets.cpu,
      ),
    })
    .map(({ target, ...schedule }) => ({
      target,
      schedule: Object.fromEntries(Object.entries(schedule).filter(([, v]) => v !== undefined)),
    }));
}

/** A gather with a schedule of its output's rank. */
const withSchedule = (random: RandomGather) =>
  randomSchedule(outputOf(random.func).type.shape.length).map((choice) => ({ random, ...choice }));

export const scheduledGather = randomGather.chain(withSchedule);

export const scheduledLongGather = longGather.chain(withSchedule);

export const anyScheduledGather = fc.oneof(scheduledGather, scheduledLongGather);

/** The tensors of a gather, by the keys of its kernel. */
export const inputsOf = ({ data, indexBytes }: RandomGather, { tile }: { readonly tile: TileFunc }) => ({
  data: { type: operandOf(tile, "data").type, bytes: data },
  indices: { type: operandOf(tile, "indices").type, bytes: indexBytes },
});
