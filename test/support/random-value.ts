/** Random gathers with values: an expression over tables that an index picks from, follow the output, or hold the indices. */
import { defined } from "../../ir/defined.js";
import {
  bitsOf,
  float8Types,
  packedTypes,
  types,
  widthOf,
  type Arithmetic,
  type Node,
  type Operation,
  type Stored,
  type Type,
} from "../oracle/values.js";
import type { Draw } from "../fuzz/mutate.js";

export interface RandomValue {
  readonly text: string;
  readonly inputs: Readonly<Record<string, Uint8Array>>;
  /** The first output point whose index is out of range, under `error`. */
  readonly bad?: readonly [number, number];
  readonly output: Uint8Array;
  /** Columns of a tile, where any may not do. */
  readonly tileColumns?: number;
  /** Rows of packed elements that fill their bytes start at bytes: a tile's columns are multiples of `step`, or all of them. */
  readonly packed?: { readonly step: number; readonly columns: number };
}

/** Bits near which rounding, ranges and signs change, and any others. */
export function randomBits(type: Stored, draw: Draw): bigint {
  const width = widthOf(type);
  const word = BigInt(draw(2 ** 16)) * 65536n + BigInt(draw(2 ** 16));
  if (draw(3) === 0) return BigInt.asUintN(width, word);
  const sign = BigInt(draw(2)) << BigInt(width - 1);
  const near = (base: bigint): bigint => BigInt.asUintN(width, base + BigInt(draw(5)) - 2n) | sign;
  if (type === "f16") return near([0n, 0x400n, 0x3c00n, 0x7bffn, 0x7c00n, 0x6800n, 0x1400n][draw(7)]!);
  if (type === "bf16") return near([0n, 0x80n, 0x3f80n, 0x7f7fn, 0x7f80n, 0x4300n, 0x4f00n][draw(7)]!);
  if (type === "f32")
    return near(
      [
        0n,
        0x800000n,
        0x3f800000n,
        0x7f7fffffn,
        0x7f800000n,
        0x4b800000n,
        0x4f000000n,
        0x38800000n,
        0x477fefffn,
        0x33000000n,
      ][draw(10)]!,
    );
  return near(
    [0n, 1n << BigInt(width - 1), 1n << BigInt(width - 2), 0x7fn, 0xffn, 0x7fffn, 0x1000000n][draw(7)]!,
  );
}

/** Types that are read and cast, and never stored. */
const castOnly = [...packedTypes, ...float8Types];

export const isArithmetic = (type: Stored): type is Arithmetic => widthOf(type) === 32;

/** An operation of a type. */
export const randomOperation = (of: Arithmetic, draw: Draw): Operation["kind"] =>
  (["add", "sub", "mul", "min", "max", "div"] as const)[draw(of === "f32" ? 6 : 5)]!;

/** The text of a node; `names` has that of each read. */
export function printed(node: Node, names: Readonly<Record<string, string>>): string {
  if (node.kind === "read") return names[node.name]!;
  if (node.kind === "number") return `0x${node.bits.toString(16).padStart(8, "0")}`;
  if (node.kind === "cast") return `${node.type}(${printed(node.of, names)})`;
  const [a, b] = node.of.map((side) => printed(side, names));
  return node.kind === "min" || node.kind === "max"
    ? `${node.kind}(${a!}, ${b!})`
    : `(${a!}) ${{ add: "+", sub: "-", mul: "*", div: "/" }[node.kind]} (${b!})`;
}

/** Output rows at most, their elements, how many share a scale, and whether each such block has an index value of its own. */
export interface Rows {
  readonly most: number;
  readonly columns: number;
  readonly block: number;
  readonly hasIndexOfBlocks: boolean;
  /** Of a tile; absent: any number of them. */
  readonly tileColumns?: number;
}

/** Rows of few elements. */
export const shortRows = (draw: Draw): Rows => ({
  most: 7,
  columns: 1 + draw(9),
  block: 3,
  hasIndexOfBlocks: false,
});

/** Rows of so many elements that vectors take them, with blocks and tiles that begin where vectors do, or elsewhere. */
export function longRows(draw: Draw): Rows {
  const columns = 16 + draw(96);
  return {
    most: 3,
    columns,
    block: [3, 16, 32, 64][draw(4)]!,
    hasIndexOfBlocks: draw(3) === 0,
    tileColumns: [columns, Math.min(32 * (1 + draw(3)), columns), 1 + draw(columns)][draw(3)]!,
  };
}

export function randomValue(draw: Draw, rowsOf: (draw: Draw) => Rows = shortRows): RandomValue {
  const type = (): Type => types[draw(types.length)]!;
  const rows = 1 + draw(6);
  const { block, columns, hasIndexOfBlocks, most, tileColumns } = rowsOf(draw);
  const count = 1 + draw(most);
  const stored = (): Stored => (draw(3) === 0 ? castOnly[draw(castOnly.length)]! : type());
  const tables = { q: stored(), s: stored(), b: stored() } as const;
  /** Elements in a byte; half of all rows are padded to whole bytes, others lie one behind the other. */
  const inByte = (name: "q" | "s" | "b"): number => Math.max(1, 8 / widthOf(tables[name]));
  const padded = (name: "q" | "s" | "b", extent: number): number =>
    draw(2) === 0 ? extent : Math.ceil(extent / inByte(name)) * inByte(name);
  const ofBlock = `d1 div ${block}`;
  const place = hasIndexOfBlocks ? `d0, ${ofBlock}` : "d0";
  const names = { q: "%q[t, d1]", s: `%s[t, ${ofBlock}]`, b: "%b[d0, d1]", i: `%i[${place}]` };
  const reads: Node[] = [
    { kind: "read", name: "q", type: tables.q },
    { kind: "read", name: "s", type: tables.s },
    { kind: "read", name: "b", type: tables.b },
    { kind: "read", name: "i", type: "i32" },
  ];
  const leaf = (of: Arithmetic): Node => {
    if (draw(5) === 0) return { kind: "number", type: of, bits: randomBits(of, draw) };
    const read = reads[draw(reads.length)]!;
    return read.type === of ? read : { kind: "cast", type: of, of: read };
  };
  const tree = (of: Arithmetic, depth: number): Node => {
    if (depth === 0 || draw(4) === 0) return leaf(of);
    if (draw(4) === 0) {
      const from = type();
      if (from !== of && isArithmetic(from)) return { kind: "cast", type: of, of: computed(from, depth - 1) };
      // Through a type that is stored alone.
      if (from !== of)
        return { kind: "cast", type: of, of: { kind: "cast", type: from, of: computed(of, depth - 1) } };
    }
    const kind = randomOperation(of, draw);
    const sides: [Node, Node] = [tree(of, depth - 1), tree(of, depth - 1)];
    // The type of a number is told by the other side.
    if (sides.every((side) => side.kind === "number")) sides[0] = leafRead(of);
    return { kind, type: of, of: sides };
  };
  /** No number alone: a cast around one would be its type. */
  const computed = (of: Arithmetic, depth: number): Node => {
    const found = tree(of, depth);
    return found.kind === "number" ? leafRead(of) : found;
  };
  const leafRead = (of: Arithmetic): Node =>
    tables.q === of ? reads[0]! : { kind: "cast", type: of, of: reads[0]! };
  const arithmetic = (["i32", "u32", "f32"] as const)[draw(3)]!;
  const side = leafRead(arithmetic);
  const inner: Node = {
    kind: (["add", "mul", "min", "sub"] as const)[draw(4)]!,
    type: arithmetic,
    of: [side, tree(arithmetic, 3)],
  };
  const output = type();
  const value: Node = output === arithmetic ? inner : { kind: "cast", type: output, of: inner };
  const policy = (["error", "clamp", "fill", "wrap"] as const)[draw(4)]!;
  const fill = policy === "fill" && draw(2) === 0 ? randomBits(output, draw) : 0n;

  const blocks = Math.ceil(columns / block);
  const shapes = {
    q: [rows, padded("q", columns)],
    s: [rows, padded("s", blocks)],
    b: [count, padded("b", columns)],
  } as const;
  const values = Object.fromEntries(
    (["q", "s", "b"] as const).map((name) => [
      name,
      Array.from({ length: shapes[name][0] * shapes[name][1] }, () => randomBits(tables[name], draw)),
    ]),
  );
  const indices = Array.from({ length: count * (hasIndexOfBlocks ? blocks : 1) }, () =>
    draw(8) === 0 ? draw(4 * rows) - 2 * rows : draw(rows),
  );
  /** The row that an index names, none or a bad one. */
  const named = (index: number): number | "none" | "bad" => {
    if (index >= 0 && index < rows) return index;
    if (policy === "clamp") return index < 0 ? 0 : rows - 1;
    if (policy === "wrap") return ((index % rows) + rows) % rows;
    return policy === "error" ? "bad" : "none";
  };
  const out: bigint[] = [];
  let bad: readonly [number, number] | undefined;
  for (let row = 0; row < count; row++) {
    for (let c = 0; c < columns; c++) {
      const ofRow = Math.floor(c / block);
      const index = indices[hasIndexOfBlocks ? row * blocks + ofRow : row]!;
      const t = named(index);
      if (t === "bad") bad ??= [row, c];
      if (typeof t !== "number") out.push(fill);
      else {
        const at: Record<string, bigint> = {
          q: values["q"]![t * shapes.q[1] + c]!,
          s: values["s"]![t * shapes.s[1] + ofRow]!,
          b: values["b"]![row * shapes.b[1] + c]!,
          i: BigInt.asUintN(32, BigInt(index)),
        };
        out.push(bitsOf(value, (name) => at[name]!));
      }
    }
  }
  const tensor = (name: string, own: Stored, [outer, innermost]: readonly [number, number]): string =>
    `%${name}: tensor<${outer}x${innermost}x${own}>`;
  const yielded = printed(value, names);
  const used = (["q", "s", "b"] as const).filter((name) => name === "q" || yielded.includes(`%${name}[`));
  const indexShape = hasIndexOfBlocks ? `${count}x${blocks}` : `${count}`;
  const heads = [
    ...used.map((name) => tensor(name, tables[name], shapes[name])),
    `%i: tensor<${indexShape}xi32>`,
  ];
  const operands = [...used, "i"].map((name) => `%${name}`).join(", ");
  const filling = policy === "fill" && fill !== 0n ? `, fill = ${fill}` : "";
  const text = `func @f(${heads.join(", ")}) -> tensor<${count}x${columns}x${output}> {
  %y = access.gather ${operands} (d0, d1) let t = ${policy}(%i[${place}] in ${rows}) yield ${yielded} {oob = ${policy}${filling}}
  return %y
}
`;
  return {
    text,
    inputs: {
      ...Object.fromEntries(
        (["q", "s", "b"] as const).map((name) => [name, bytes(tables[name], values[name]!)]),
      ),
      i: new Uint8Array(Int32Array.from(indices).buffer),
    },
    ...defined({ bad }),
    output: bytes(output, out),
    ...defined({ tileColumns }),
    packed: {
      step: Math.max(
        ...used.map((name) => (name === "s" || shapes[name][1] % inByte(name) > 0 ? 1 : inByte(name))),
      ),
      columns,
    },
  };
}

export function bytes(type: Stored, values: readonly bigint[]): Uint8Array {
  const width = widthOf(type);
  if (width < 8) {
    const packed = new Uint8Array(Math.ceil((values.length * width) / 8));
    values.forEach((value, k) => {
      packed[Math.floor((k * width) / 8)]! |= Number(value) << ((k * width) % 8);
    });
    return packed;
  }
  const size = width / 8;
  const result = new Uint8Array(values.length * size);
  values.forEach((value, k) => {
    for (let byte = 0; byte < size; byte++)
      result[k * size + byte] = Number((value >> BigInt(8 * byte)) & 0xffn);
  });
  return result;
}
