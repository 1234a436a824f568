/** Random bags of rows and mixtures of experts, as torch.embedding_bag and moe.combine define them. */
import { defined, printModule } from "../../ir/index.js";
import { accessOf } from "../../src/api/access.js";
import { program, type ProgramDescription } from "../../src/index.js";
import { bitsOf, reduced, type Node, type Reduction } from "../oracle/values.js";
import type { Draw } from "../fuzz/mutate.js";
import { bytes, randomBits, type RandomValue } from "./random-value.js";

type Float = "f32" | "f16" | "bf16";
type Index = "i32" | "i64";
const floats = ["f32", "f16", "bf16"] as const;

/** The rows of a term list with their factors, or that an index among them is out of range. */
type Terms = readonly { readonly row: number; readonly factor?: bigint }[] | "bad";

const asF32 = (type: Float, name: string): Node => {
  const read: Node = { kind: "read", name, type };
  return type === "f32" ? read : { kind: "cast", type: "f32", of: read };
};

/** T(how(f32(x[row]) * f32(factor))) for each list of terms; zeros from the first bad one on. */
function computed(
  how: Reduction,
  types: { readonly x: Float; readonly w: Float },
  lists: readonly Terms[],
  x: readonly (readonly bigint[])[],
  columns: number,
): Pick<RandomValue, "bad" | "output"> {
  const row = asF32(types.x, "x");
  const product: Node = { kind: "mul", type: "f32", of: [row, asF32(types.w, "w")] };
  const sum: Node = { kind: "read", name: "sum", type: "f32" };
  const final: Node = types.x === "f32" ? sum : { kind: "cast", type: types.x, of: sum };
  const bad = lists.indexOf("bad");
  const values = lists.flatMap((terms) =>
    Array.from({ length: columns }, (_, c) => {
      if (terms === "bad") return 0n;
      const each = terms.map(({ row: t, factor }) =>
        bitsOf(factor === undefined ? row : product, (name) => (name === "x" ? x[t]![c]! : factor!)),
      );
      const taken = reduced(how, "f32", each);
      return bitsOf(final, () => taken);
    }),
  );
  return { output: bytes(types.x, values), ...(bad === -1 ? {} : { bad: [bad, 0] as const }) };
}

const ints = (type: Index, values: readonly number[]): Uint8Array =>
  new Uint8Array((type === "i64" ? BigInt64Array.from(values, BigInt) : Int32Array.from(values)).buffer);

/** The text of an operator's access program. */
function textOf(description: ProgramDescription): string {
  const func = accessOf(program(description));
  if (func === undefined) throw new Error("an access program");
  return printModule({ funcs: [func] });
}

const rowsOf = (type: Float, rows: number, columns: number, draw: Draw): bigint[][] =>
  Array.from({ length: rows }, () => Array.from({ length: columns }, () => randomBits(type, draw)));

/** torch.embedding_bag of one of its forms: two dims, offsets, offsets with the last; each with weights or without. */
export function randomBag(draw: Draw): RandomValue {
  const mode = (["sum", "sum", "mean", "max"] as const)[draw(4)]!;
  const type = floats[draw(3)]!;
  const index = (): Index => (draw(2) === 0 ? "i32" : "i64");
  const [rows, columns, bags, length] = [1 + draw(6), 1 + draw(7), 1 + draw(5), 1 + draw(5)];
  const flat = draw(3) > 0;
  const last = flat ? draw(2) : 0;
  const lengths = Array.from({ length: bags }, () => (draw(4) === 0 ? 0 : draw(length + 1)));
  let end = 0;
  const starts = [0, ...lengths.map((own) => (end += own))];
  // Places behind the last bag are in none, where offsets say where it ends.
  const listed = flat ? end + (last === 1 ? draw(3) : 0) : bags * length;
  const offsets = starts.map((start) => (draw(20) === 0 ? draw(listed + 3) - 1 : start));
  const indices = Array.from({ length: listed }, () => (draw(16) === 0 ? draw(3 * rows) - rows : draw(rows)));
  const weighted = mode === "sum" && draw(2) === 0;
  const weights = Array.from({ length: listed }, () => randomBits(type, draw));
  const padding = draw(2) === 0 ? draw(2 * rows) - rows : undefined;
  const left = padding === undefined ? -1 : (padding + rows) % rows;
  const longest = flat && draw(3) === 0 ? 1 + draw(length) : undefined;

  const lists = Array.from({ length: bags }, (_, b): Terms => {
    const from = flat ? offsets[b]! : b * length;
    const to = !flat ? from + length : b + 1 < bags || last === 1 ? offsets[b + 1]! : listed;
    if (flat && (offsets[0] !== 0 || from < 0 || from > listed || to < 0 || to > listed)) return "bad";
    if (longest !== undefined && to - from > longest) return "bad";
    const places = Array.from({ length: Math.max(0, to - from) }, (_place, k) => from + k);
    if (places.some((p) => indices[p]! < 0 || indices[p]! >= rows)) return "bad";
    return places.flatMap((p) =>
      indices[p] === left ? [] : [{ row: indices[p]!, ...(weighted ? { factor: weights[p]! } : {}) }],
    );
  });
  const x = rowsOf(type, rows, columns, draw);
  const [ofInput, ofOffsets] = [index(), index()];
  const offsetsGiven = offsets.slice(0, bags + last);
  const shape = flat ? [listed] : [bags, length];
  const text = textOf({
    op: "torch.embedding_bag",
    attrs: {
      mode,
      ...defined({ padding_idx: padding }),
      ...(last === 0 ? {} : { include_last_offset: 1 }),
      ...defined({ longest_bag: longest }),
    },
    data: { dtype: type, shape: [rows, columns] },
    indices: { dtype: ofInput, shape },
    others: [
      ...(flat ? [{ dtype: ofOffsets, shape: [offsetsGiven.length] }] : []),
      ...(weighted ? [{ dtype: type, shape }] : []),
    ],
  });
  const how = ({ sum: "fold", mean: "mean", max: "max" } as const)[mode];
  return {
    text,
    inputs: {
      weight: bytes(type, x.flat()),
      input: ints(ofInput, indices),
      offsets: ints(ofOffsets, offsetsGiven),
      per_sample_weights: bytes(type, weights),
    },
    ...computed(how, { x: type, w: type }, lists, x, columns),
  };
}

/** moe.combine: weights of any of its types, and now and then an index that is no row. */
export function randomCombine(draw: Draw): RandomValue {
  const [x, w] = [floats[draw(3)]!, floats[draw(3)]!];
  const [rows, columns, tokens, experts] = [1 + draw(6), 1 + draw(9), 1 + draw(5), 1 + draw(8)];
  const places = Array.from({ length: tokens * experts }, (_, k) => k);
  const indices = places.map(() => (draw(60) === 0 ? draw(3 * rows) - rows : draw(rows)));
  const weights = places.map(() => randomBits(w, draw));
  const lists = Array.from({ length: tokens }, (_, t): Terms => {
    const own = places.slice(t * experts, (t + 1) * experts);
    if (own.some((p) => indices[p]! < 0 || indices[p]! >= rows)) return "bad";
    return own.map((p) => ({ row: indices[p]!, factor: weights[p]! }));
  });
  const type = draw(2) === 0 ? "i32" : "i64";
  const table = rowsOf(x, rows, columns, draw);
  const shape = [tokens, experts];
  const text = textOf({
    op: "moe.combine",
    attrs: {},
    data: { dtype: x, shape: [rows, columns] },
    indices: { dtype: type, shape },
    others: [{ dtype: w, shape }],
  });
  return {
    text,
    inputs: { x: bytes(x, table.flat()), inverse: ints(type, indices), weights: bytes(w, weights) },
    ...computed("fold", { x, w }, lists, table, columns),
  };
}
