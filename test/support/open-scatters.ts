/** Scatters over symbols, drawn from a seed: text, and inputs for given sizes. */
import { inputsOf, keyOf } from "../../ir/index.js";
import { toHost, type HostValue } from "../../backends/index.js";
import type { Kernel } from "../../src/index.js";
import { drawer, type Draw } from "../fuzz/mutate.js";

/** Scatter over the symbols V (rows of the output) and N (points along the outermost dim). */
export interface OpenScatter {
  readonly text: string;
  /** Symbols that the text declares. */
  readonly symbols: readonly ("V" | "N")[];
  readonly duplicates: string;
  /** True if index values select elements of a row, and not rows. */
  readonly isInRows: boolean;
}

const maxRows = 24;
const maxPoints = 20;

/** A way to write: shapes by their rows and points, the domain, and the coordinates that are written. */
interface Form {
  readonly rank: 1 | 2;
  readonly updates: (columns: number) => string;
  readonly indices: (columns: number) => string;
  readonly points: (columns: number) => string;
  readonly index: string;
  readonly at: string;
  readonly read: string;
  /** Rows of the output where they are those of the points, or the most that these may be. */
  readonly rows?: "points" | "most points";
}

/** A form with an index value for each point. */
const byElement = {
  rank: 2,
  updates: (columns: number) => `x${columns}`,
  indices: (columns: number) => `x${columns}`,
  points: (columns: number) => `, d1 < ${columns}`,
  index: "d0, d1",
  read: "d0, d1",
} as const;

const forms: readonly Form[] = [
  {
    rank: 2,
    updates: (columns) => `x${columns}`,
    indices: () => "",
    points: (columns) => `, d1 < ${columns}`,
    index: "d0",
    at: "t, d1",
    read: "d0, d1",
  },
  { ...byElement, at: "t, d1" },
  { ...byElement, at: "d0, t", rows: "points" },
  { ...byElement, at: "d0, t", rows: "most points" },
  { rank: 1, updates: () => "", indices: () => "", points: () => "", index: "d0", at: "t", read: "d0" },
  {
    // A block of two rows for each index.
    rank: 2,
    updates: (columns) => `x2x${columns}`,
    indices: () => "",
    points: (columns) => `, d1 < 2, d2 < ${columns}`,
    index: "d0",
    at: "t, d2",
    read: "d0, d1, d2",
  },
];

const policies = ["error", "skip", "clamp", "wrap", "unchecked"] as const;
const moved = ["f32", "u8", "i64", "f16", "bool"] as const;
const combined = ["f32", "i32", "u8", "f16", "i16"] as const;

const one = <T>(draw: Draw, list: readonly T[]): T => list[draw(list.length)]!;

/** Returns the scatter of a seed. */
export function openScatter(seed: number): OpenScatter {
  const draw = drawer(seed);
  const form = one(draw, forms);
  const columns = one(draw, [1, 3, 4, 8]);
  const combine = one(draw, ["set", "set", "add", "mul", "min", "max"]);
  const dtype: string = combine === "set" ? one(draw, moved) : one(draw, combined);
  const drawn = combine === "set" ? one(draw, ["last", "error", "unique"]) : one(draw, ["", "", "unique"]);
  // Two rows of a block write one element.
  const duplicates = drawn === "unique" && form.at === "t, d2" ? (combine === "set" ? "last" : "") : drawn;
  const [openRows, opened] = one(draw, [
    [true, false],
    [false, true],
    [true, true],
  ] as const);
  const openPoints = opened || form.rows !== undefined;
  const points = openPoints ? "N" : `${maxPoints}`;
  const free = openRows ? "V" : `${maxRows}`;
  const rows = form.rows === "points" ? points : form.rows === "most points" ? `${maxPoints}` : free;
  const symbols = (["V", "N"] as const).filter((name) => rows === name || points === name);
  const place = one(draw, ["inout", "", "fill"]);
  const width = form.rank === 1 ? "" : `x${columns}`;
  const output = `tensor<${rows}${width}x${dtype}>`;
  const policy = one(draw, policies);
  const extent = form.at === "d0, t" ? `${columns}` : rows;
  const counted = draw(2) === 0 ? `from_end(%i[${form.index}])` : `%i[${form.index}]`;
  const base = place === "fill" ? "" : `%x: ${place} ${output}, `;
  const index = one(draw, ["i32", "i64"]);
  const params = `${base}%i: tensor<${points}${form.indices(columns)}x${index}>, %u: tensor<${points}${form.updates(columns)}x${dtype}>`;
  const operands = `${place === "fill" ? "" : "%x, "}%i, %u`;
  const value = dtype === "f32" && draw(2) === 0 ? `%u[${form.read}] * %u[${form.read}]` : `%u[${form.read}]`;
  const isStated = draw(3) > 0;
  const entries = [
    // A bound that the text does not state is the extent, and the policy is that of all index values.
    `oob = ${isStated ? one(draw, ["error", "clamp"]) : policy}`,
    ...(place === "fill" ? ["base = fill 3"] : []),
    ...(combine === "set" ? [] : [`combine = ${combine}`]),
    ...(duplicates === "" ? [] : [`duplicates = ${duplicates}`]),
  ];
  const stated = isStated ? `let t = ${policy}(${counted} in ${extent}) ` : "";
  const at = isStated ? form.at : form.at.replace("t", counted);
  const dims = symbols.map((name) => `dim ${name} <= ${name === "V" ? maxRows : maxPoints}\n`).join("");
  const text = `${dims}func @f(${params}) -> ${output} {
  %y = access.scatter ${operands} (d0 < ${points}${form.points(columns)}) ${stated}-> (${at}) yield ${value} {${entries.join(", ")}}
  return %y
}
`;
  return { text, symbols, duplicates, isInRows: form.at === "d0, t" };
}

/** Returns sizes to try: ordinary, odd, 1, and the largest. */
export const openSizes = ({ symbols }: OpenScatter): readonly Readonly<Record<string, number>>[] =>
  [
    { V: maxRows, N: maxPoints },
    { V: 13, N: 7 },
    { V: 1, N: 1 },
    { V: 21, N: 20 },
  ].map((sizes) => Object.fromEntries(symbols.map((name) => [name, sizes[name]])));

/**
 * Returns inputs of a bound scatter. Indices are distinct for unique points, may be two times the same for
 * an error, and may be out of range where the policy has an answer.
 */
export function openInputs(
  { duplicates, text, isInRows }: OpenScatter,
  { tile }: Kernel,
  seed: number,
): Readonly<Record<string, HostValue>> {
  const draw = drawer(seed);
  const isDistinct = duplicates === "unique" || (duplicates === "error" && draw(3) > 0);
  const isAsked = /unchecked/.test(text);
  const perRow = tile.operands.at(-1)!.type.shape;
  const extent = isInRows ? perRow[1]! : perRow[0]!;
  return Object.fromEntries(
    inputsOf(tile).map((operand) => {
      const { type, name } = operand;
      const key = keyOf(operand);
      const count = type.shape.reduce((a, b) => a * b, 1);
      const inner = type.shape[1] ?? 1;
      const raw = Array.from({ length: count }, (_, k) => {
        if (isDistinct) {
          // Coordinates that differ: of rows by the row, of columns within a row.
          const number = isInRows ? k % inner : Math.floor(k / inner);
          return number < extent || isAsked ? (number * 5) % extent : extent + 5;
        }
        return isAsked || draw(3) > 0 ? draw(extent) : draw(extent + 3) - 1;
      });
      if (name !== "i") {
        const size = { f32: 4, i32: 4, u8: 1, bool: 1, i64: 8, f16: 2, i16: 2 }[type.dtype as "f32"];
        const bytes = new Uint8Array(count * size).map(() =>
          type.dtype === "bool" ? draw(2) : 1 + draw(100),
        );
        return [key, toHost(key, type, bytes)];
      }
      const array = type.dtype === "i32" ? Int32Array.from(raw) : BigInt64Array.from(raw.map(BigInt));
      return [key, toHost(key, type, array)];
    }),
  );
}
