/** Random scatters for the oracle. */
import type { Draw } from "../fuzz/mutate.js";
import type { Coordinate, ElementType, IndexValue, OracleScatter } from "../oracle/scatter.js";
import { types, type Type } from "../oracle/values.js";

const pick = <T>(list: readonly T[], draw: Draw): T => list[draw(list.length)]!;

const width = (type: ElementType): number => (type === "bool" ? 8 : Number(/\d+/.exec(type)![0]));

/** Bits that rounding, wrapping and NaN make a difference to. */
const special: Readonly<Partial<Record<ElementType, readonly bigint[]>>> = {
  f32: [0x7fc00001n, 0xff800001n, 0x80000000n, 0n, 0x7f800000n, 0xff800000n, 0x00000001n, 0x7f7fffffn],
  f16: [0x7e01n, 0xfc01n, 0x8000n, 0n, 0x7c00n, 0xfc00n, 0x0001n, 0x7bffn],
  bf16: [0x7fc1n, 0xff81n, 0x8000n, 0n, 0x7f80n, 0xff80n, 0x0001n, 0x7f7fn],
};

function bitsOf(type: ElementType, draw: Draw): bigint {
  const list = special[type];
  if (list !== undefined && draw(6) === 0) return pick(list, draw);
  // Near 1, where sums of floats round.
  if (type === "f32") return 0x3f800000n + BigInt(draw(2 ** 23));
  if (type === "f16") return 0x3c00n + BigInt(draw(2 ** 11));
  if (type === "bf16") return 0x3f80n + BigInt(draw(2 ** 8));
  if (type === "bool") return BigInt(draw(2));
  let bits = 0n;
  for (let k = 0; k < width(type); k += 8) bits |= BigInt(draw(256)) << BigInt(k);
  return bits;
}

const product = (extents: readonly number[]): number => extents.reduce((n, extent) => n * extent, 1);

/** Draws a scatter: of half of them some points write one element, a third has several dims that carry points. */
export function randomScatter(draw: Draw): OracleScatter {
  const combine = pick(["set", "set", "add", "mul", "min", "max"] as const, draw);
  const type: ElementType =
    combine === "set" ? pick([...types, "i64", "f64", "bool"] as const, draw) : pick<Type>(types, draw);
  const rank = 1 + draw(3);
  const domain = Array.from({ length: rank }, () => (draw(20) === 0 ? draw(2) : 1 + draw(6)));
  const indices: IndexValue[] = [];
  const shape: number[] = [];
  const written: Coordinate[] = [];
  const isUnique = draw(5) === 0;
  const newIndex = (policy: IndexValue["policy"], extent: number): string => {
    const k = indices.length;
    const dims = domain.map((_, d) => d).filter(() => draw(2) === 0);
    const fromEnd = draw(3) === 0;
    const low = fromEnd ? -extent : 0;
    const mayLeave = policy !== "error" || draw(5) < 2;
    const values = Array.from({ length: product(dims.map((d) => domain[d]!)) }, () =>
      mayLeave && draw(4) === 0
        ? BigInt(pick([-extent - 1 - draw(3), extent + draw(3)], draw))
        : BigInt(low + draw(extent - low)),
    );
    const isNone = (policy === "skip" || policy === "fill") && draw(5) === 0 && extent > 0;
    indices.push({
      name: `s${k}`,
      table: { name: `i${k}`, dtype: pick(["i32", "i64"] as const, draw), values },
      dims,
      policy,
      extent,
      fromEnd,
      ...(isNone ? { excluded: draw(extent) } : {}),
    });
    return `s${k}`;
  };
  const free = domain.map((_, d) => d);
  const outRank = 1 + draw(3);
  const addIndex = (): void => {
    const extent = 1 + draw(8);
    const index = newIndex(pick(["error", "skip", "clamp", "wrap"] as const, draw), extent);
    if (draw(4) === 0 && shape.length + 1 < outRank) {
      const by = 1 + draw(3);
      written.push({ kind: "index", index, by, part: "div" }, { kind: "index", index, by, part: "mod" });
      shape.push(Math.floor((extent - 1) / by) + 1, by);
      return;
    }
    const by = 1 + draw(2);
    written.push({ kind: "index", index, by, part: "all" });
    shape.push(by * (extent - 1) + 1 + draw(2));
  };
  while (shape.length < outRank) {
    if (free.length > 0 && draw(2) === 0) {
      const [dim] = free.splice(draw(free.length), 1);
      const [by, plus] = draw(3) === 0 ? [1 + draw(2), draw(3)] : [1, 0];
      written.push({ kind: "dim", dim: dim!, by, plus });
      shape.push(by * Math.max(0, domain[dim!]! - 1) + 1 + plus + (draw(2) === 0 ? draw(9) : 0));
    } else addIndex();
  }
  const updateShape = [...domain];
  let along: OracleScatter["update"]["along"];
  if (draw(3) === 0) {
    const dim = draw(rank);
    const extent = 1 + draw(5);
    along = { dim, index: newIndex(pick(["error", "fill", "clamp", "wrap"] as const, draw), extent) };
    updateShape[dim] = extent;
  }
  const elements = (list: readonly number[]): bigint[] =>
    Array.from({ length: product(list) }, () => bitsOf(type, draw));
  const inout = draw(4) === 0;
  return {
    type,
    domain,
    shape,
    indices,
    written,
    update: { shape: updateShape, bits: elements(updateShape), ...(along === undefined ? {} : { along }) },
    combine,
    ...(combine === "set"
      ? { duplicates: isUnique ? "unique" : pick(["last", "error"] as const, draw) }
      : isUnique
        ? { duplicates: "unique" }
        : {}),
    base: !inout && draw(4) === 0 ? bitsOf(type, draw) : elements(shape),
    inout,
    fill: along !== undefined && indices.at(-1)?.policy === "fill" && draw(2) === 0 ? bitsOf(type, draw) : 0n,
  };
}
