/** Random gathers whose elements are made from terms: a fixed number of them, or bags between two offsets. */
import { defined } from "../../ir/defined.js";
import { bitsOf, reduced, types, type Arithmetic, type Node, type Type } from "../oracle/values.js";
import type { Draw } from "../fuzz/mutate.js";
import {
  bytes,
  printed,
  randomBits,
  randomOperation,
  shortRows,
  type RandomValue,
  type Rows,
} from "./random-value.js";

const policies = ["error", "clamp", "fill", "wrap"] as const;
type Policy = (typeof policies)[number];

/** The element that an index names, or what becomes of it. */
function resolved(policy: Policy, index: number, below: number): number | "none" | "bad" {
  if (index >= 0 && index < below) return index;
  if (policy === "clamp") return index < 0 ? 0 : below - 1;
  if (policy === "wrap") return ((index % below) + below) % below;
  return policy === "fill" ? "none" : "bad";
}

/** An expression of some reads; numbers stand beside another type alone. */
function randomTree(draw: Draw, reads: readonly Node[], of: Arithmetic, depth: number): Node {
  const leaf = (): Node => {
    const read = reads[draw(reads.length)]!;
    return read.type === of ? read : { kind: "cast", type: of, of: read };
  };
  if (depth === 0 || draw(3) === 0) return leaf();
  const kind = randomOperation(of, draw);
  const other: Node =
    draw(4) === 0
      ? { kind: "number", type: of, bits: randomBits(of, draw) }
      : randomTree(draw, reads, of, depth - 1);
  return { kind, type: of, of: [randomTree(draw, reads, of, depth - 1), other] };
}

const asF32 = (of: Node): Node => ({ kind: "cast", type: "f32", of });
const operation = (kind: "sub" | "mul" | "max", type: Arithmetic, a: Node, b: Node): Node => ({
  kind,
  type,
  of: [a, b],
});

/** Terms of exact sums: of types whose digits and ranges leave room for a few thousand of them. */
const exactTerms: readonly {
  readonly q: readonly Type[];
  readonly w: readonly Type[];
  readonly of: (q: Node, w: Node, draw: Draw) => Node;
}[] = [
  { q: ["f16", "i8", "u8", "i16", "u16", "i32", "u32"], w: ["u8"], of: asF32 },
  { q: ["f16"], w: ["i8", "u8"], of: (q, w) => operation("mul", "f32", asF32(q), asF32(w)) },
  { q: ["i16", "u16"], w: ["i8", "u8"], of: (q, w) => operation("mul", "f32", asF32(q), asF32(w)) },
  {
    q: ["i8", "u8"],
    w: ["f16"],
    of: (q, w) => {
      const wide: Node = { kind: "cast", type: "i32", of: q };
      const zero: Node = { kind: "number", type: "i32", bits: 8n };
      return operation("mul", "f32", asF32(operation("sub", "i32", wide, zero)), asF32(w));
    },
  },
  { q: ["f32", "bf16"], w: ["u8"], of: (q) => asF32({ kind: "cast", type: "f16", of: q }) },
  { q: ["f16"], w: ["u8"], of: (q, w) => operation("max", "f32", asF32(q), asF32(w)) },
  {
    // From 2^-149 on, where sums are subnormal, to where they leave the range.
    q: ["i8", "u8"],
    w: ["u8"],
    of: (q, _, draw) => {
      const field = draw(120 + 127);
      const bits = draw(4) === 0 ? 1n << BigInt(draw(23)) : BigInt(1 + field) << 23n;
      return operation("mul", "f32", asF32(q), { kind: "number", type: "f32", bits });
    },
  },
];

/** An exact sum over terms. */
export const randomExact = (draw: Draw): RandomValue => randomSum(draw, exactTerms[draw(exactTerms.length)]);

const shortSums = (draw: Draw) => ({ ...shortRows(draw), most: 5 });

/** `exactly`: the terms of an exact sum. */
export function randomSum(
  draw: Draw,
  exactly?: (typeof exactTerms)[number],
  rowsOf: (draw: Draw) => Pick<Rows, "most" | "columns" | "tileColumns"> = shortSums,
): RandomValue {
  const type = (of: readonly Type[] = types): Type => of[draw(of.length)]!;
  const rows = 1 + draw(5);
  const { columns, most: mostRows, tileColumns } = rowsOf(draw);
  const [count, most] = [1 + draw(mostRows), 1 + draw(6)];
  const bag = draw(2) === 0;
  const how = exactly === undefined ? (["fold", "fold", "mean", "max", "min"] as const)[draw(5)]! : "exact";
  const arithmetic =
    how === "mean" || how === "exact" ? "f32" : (["i32", "u32", "f32", "f32"] as const)[draw(4)]!;
  const [policy, outer] = [policies[draw(4)]!, policies[draw(4)]!];
  const index = (below: number): number => (draw(16) === 0 ? draw(4 * below) - 2 * below : draw(below));

  const lengths = Array.from({ length: count }, () => draw(most + 1) + (draw(40) === 0 ? 1 : 0));
  const total = bag ? lengths.reduce((sum, length) => sum + length, 0) + 1 : most;
  let end = 0;
  const offsets = [0, ...lengths.map((length) => (end += length))].map((offset) =>
    // One that descends, or lies outside.
    draw(20) === 0 ? draw(total + 2) : offset,
  );
  const listed = bag ? total : count * most;
  const tables = { q: type(exactly?.q), w: type(exactly?.w), b: type(), v: type() } as const;
  const sizes = { q: rows * columns, w: listed, b: count * columns, v: rows } as const;
  const values = Object.fromEntries(
    (["q", "w", "b", "v"] as const).map((name) => [
      name,
      Array.from({ length: sizes[name] }, () => randomBits(tables[name], draw)),
    ]),
  );
  const indices = Array.from({ length: listed }, () => index(rows));
  const outers = Array.from({ length: count }, () => index(rows));

  const place = bag ? "r" : "d0, r";
  const names = { q: "%q[t, d1]", w: `%w[${place}]`, b: "%b[d0, d1]", v: "%v[u]", i: `%i[${place}]` };
  const read = (name: "q" | "w" | "b" | "v"): Node => ({ kind: "read", name, type: tables[name] });
  const ofTerm: Node[] = [
    read("q"),
    read("w"),
    read("b"),
    read("v"),
    { kind: "read", name: "i", type: "i32" },
  ];
  const first: Node = tables.q === arithmetic ? read("q") : { kind: "cast", type: arithmetic, of: read("q") };
  const term: Node = exactly
    ? exactly.of(read("q"), read("w"), draw)
    : draw(3) === 0
      ? first
      : {
          kind: (["add", "mul", "sub", "max"] as const)[draw(4)]!,
          type: arithmetic,
          of: [first, randomTree(draw, ofTerm, arithmetic, 2)],
        };
  const sum: Node = { kind: "read", name: "sum", type: arithmetic };
  const around: Node =
    draw(2) === 0
      ? sum
      : {
          kind: (["add", "mul", "min"] as const)[draw(3)]!,
          type: arithmetic,
          of: [sum, randomTree(draw, [read("b"), read("v"), sum], arithmetic, 1)],
        };
  const output = type();
  const value: Node = output === arithmetic ? around : { kind: "cast", type: output, of: around };
  // One sum stands in a value, once.
  const text = printed(value, { ...names, sum: "SUM" });
  const whole = text.split("SUM").length === 2;
  const final: Node = whole ? value : output === arithmetic ? sum : { kind: "cast", type: output, of: sum };
  const yielded = printed(final, { ...names, sum: `${how}(${printed(term, names)})` });
  const used = (["w", "b", "v"] as const).filter((name) => yielded.includes(`%${name}[`));
  const ended = yielded.includes("%v[");
  const fill = ended && outer === "fill" && draw(2) === 0 ? randomBits(output, draw) : 0n;

  const out: bigint[] = [];
  let bad: readonly [number, number] | undefined;
  for (let row = 0; row < count; row++) {
    const [from, to] = bag ? [offsets[row]!, offsets[row + 1]!] : [0, most];
    const u = ended ? resolved(outer, outers[row]!, rows) : 0;
    let wrong = bag && (from > total || to > total || to - from > most);
    const terms: { readonly at: number; readonly t: number }[] = [];
    if (!wrong && u !== "none") {
      for (let r = from; r < to; r++) {
        const at = bag ? r : row * most + r;
        const t = resolved(policy, indices[at]!, rows);
        if (t === "bad") wrong = true;
        else if (t !== "none") terms.push({ at, t });
      }
      wrong ||= u === "bad";
    }
    if (wrong) bad ??= [row, 0];
    for (let c = 0; c < columns; c++) {
      if (wrong) out.push(0n);
      else if (typeof u !== "number") out.push(fill);
      else {
        const common = { b: values["b"]![row * columns + c]!, v: values["v"]![u]! };
        const each = terms.map(({ at, t }) =>
          bitsOf(term, (name) =>
            name === "q"
              ? values["q"]![t * columns + c]!
              : name === "w"
                ? values["w"]![at]!
                : name === "i"
                  ? BigInt.asUintN(32, BigInt(indices[at]!))
                  : common[name as "b" | "v"],
          ),
        );
        const taken = reduced(how, arithmetic, each);
        out.push(bitsOf(final, (name) => (name === "sum" ? taken : common[name as "b" | "v"])));
      }
    }
  }

  const shapes = {
    q: `${rows}x${columns}x${tables.q}`,
    w: bag ? `${total}x${tables.w}` : `${count}x${most}x${tables.w}`,
    b: `${count}x${columns}x${tables.b}`,
    v: `${rows}x${tables.v}`,
    i: bag ? `${total}xi32` : `${count}x${most}xi32`,
    j: `${count}xi32`,
    off: `${count + 1}xi32`,
  };
  const inputs = [
    "q",
    ...used,
    "i",
    ...(ended ? ["j"] : []),
    ...(bag ? ["off"] : []),
  ] as (keyof typeof shapes)[];
  const heads = inputs.map((name) => `%${name}: tensor<${shapes[name]}>`).join(", ");
  const bound = (at: string): string => `error(%off[${at}] in ${total + 1})`;
  const range = bag ? `r in ${bound("d0")} to ${bound("d0 + 1")} most ${most}` : `r < ${most}`;
  const own = ended ? `let u = ${outer}(%j[d0] in ${rows}) ` : "";
  const filling = fill === 0n ? "" : `, fill = ${fill}`;
  const words = (list: readonly number[]): Uint8Array => new Uint8Array(Int32Array.from(list).buffer);
  return {
    text: `func @f(${heads}) -> tensor<${count}x${columns}x${output}> {
  %y = access.gather ${inputs.map((name) => `%${name}`).join(", ")} (d0, d1; ${range}) ${own}let t = ${policy}(%i[${place}] in ${rows}) yield ${yielded} {oob = ${ended ? outer : policy}${filling}}
  return %y
}
`,
    inputs: {
      ...Object.fromEntries(
        (["q", "w", "b", "v"] as const).map((name) => [name, bytes(tables[name], values[name]!)]),
      ),
      i: words(indices),
      j: words(outers),
      off: words(offsets),
    },
    ...defined({ bad }),
    output: bytes(output, out),
    ...defined({ tileColumns }),
  };
}
