/** The page of what is claimed where: a row for each class of programs, a cell that the code itself gives. */
import { planDirect } from "../../backends/direct/plan.js";
import type { AccessFunc, Func, Target } from "../../ir/index.js";
import { CompileError, compile, pypto, targets, type Kernel } from "../../src/index.js";
import {
  bitsOf,
  reduced,
  type Arithmetic,
  type Node,
  type Reduction,
  type Stored,
  type Type,
} from "../oracle/values.js";
import { parsedAccess } from "../support/parsed.js";
import { printed } from "../support/random-value.js";

export const columns = [
  "reference",
  "checked",
  "fast",
  "direct",
  "WebGPU",
  "PTO text",
  "PyPTO text",
] as const;
export type Column = (typeof columns)[number];

export const words = {
  proved: "the bits are those of the definition, whatever the elements are",
  "proved, native steps":
    "the same, and some steps are WebGPU's own f32: each has its proof in the kernel's text",
  conditional: "the same where the elements meet the conditions that the text states and `meets` tests",
  promise: "the same where every index is in range: the program promises it, and nobody tests it",
  refused: "TC505, which names the step",
  "not taken": "another executor runs such programs",
} as const;
export type Claim = keyof typeof words;

/** A class of programs, by one of them: rows of %a and %b that %i names, all of these shapes. */
export interface ClaimRow {
  readonly title: string;
  readonly a: Stored;
  readonly b?: Stored;
  readonly value: Node;
  readonly output: Type;
  readonly reduce?: Reduction;
  readonly policy?: "unchecked";
  /** The operator that is such a program; absent: an access map is. */
  readonly source?: Func;
}

/** Rows of a table, elements of a row, rows of the output, and terms of an element where it has any. */
export const extents = { table: 5, columns: 32, rows: 4, terms: 3 } as const;

const read = (name: "a" | "b", type: Stored): Node => ({ kind: "read", name, type: type as Type });
const cast = (type: Type, of: Node): Node => ({ kind: "cast", type, of });
const op = (
  kind: "add" | "mul" | "div" | "min" | "max",
  type: Arithmetic,
  ...of: readonly [Node, Node]
): Node => ({
  kind,
  type,
  of,
});
const [bytes, shorts, reals, halves] = [read("a", "i8"), read("b", "i8"), read("b", "f32"), read("b", "f16")];
const product = op("mul", "f32", cast("f32", bytes), reals);

export const claimRows: readonly ClaimRow[] = [
  { title: "moves of bits", a: "f32", value: read("a", "f32"), output: "f32" },
  {
    title: "moves of bits, by an operator of PyPTO's",
    a: "f32",
    value: read("a", "f32"),
    output: "f32",
    source: pypto.indexSelect({
      input: ["f32", [extents.table, extents.columns]],
      index: ["i32", [extents.rows]],
      dim: 0,
    }),
  },
  {
    title: "moves by indices that are promised to be in range, `oob = unchecked`",
    a: "f32",
    value: read("a", "f32"),
    output: "f32",
    policy: "unchecked",
  },
  {
    title: "integers that stay in their range",
    a: "i8",
    b: "i8",
    value: op("mul", "i32", cast("i32", bytes), cast("i32", shorts)),
    output: "i32",
  },
  {
    title: "integers that may wrap",
    a: "i32",
    b: "i32",
    value: op("mul", "i32", read("a", "i32"), read("b", "i32")),
    output: "i32",
  },
  {
    title: "f32 of integers, exact",
    a: "i8",
    b: "i8",
    value: op("mul", "f32", cast("f32", bytes), cast("f32", shorts)),
    output: "f32",
  },
  {
    title: "f32 of integers and f16, exact",
    a: "i8",
    b: "f16",
    value: op("mul", "f32", cast("f32", bytes), cast("f32", halves)),
    output: "f32",
  },
  { title: "f32 that rounds", a: "i8", b: "f32", value: product, output: "f32" },
  { title: "f32 that rounds, cast to f16", a: "i8", b: "f32", value: cast("f16", product), output: "f16" },
  {
    title: "quotients of f32",
    a: "f32",
    b: "f32",
    value: op("div", "f32", read("a", "f32"), reals),
    output: "f32",
  },
  {
    title: "the least of two f32",
    a: "f32",
    b: "f32",
    value: op("min", "f32", read("a", "f32"), reals),
    output: "f32",
  },
  {
    title: "f32 to integers",
    a: "f32",
    value: cast("i32", op("mul", "f32", read("a", "f32"), read("a", "f32"))),
    output: "i32",
  },
  { title: "u32 to f32", a: "u32", value: cast("f32", read("a", "u32")), output: "f32" },
  { title: "packed elements", a: "u4", value: cast("f32", read("a", "u4")), output: "f32" },
  { title: "8-bit real numbers", a: "f8e4m3fn", value: cast("f32", read("a", "f8e4m3fn")), output: "f32" },
  { title: "sums of integers", a: "i8", value: cast("i32", bytes), output: "i32", reduce: "fold" },
  { title: "sums of f32", a: "f32", value: read("a", "f32"), output: "f32", reduce: "fold" },
  { title: "exact sums", a: "f16", value: cast("f32", read("a", "f16")), output: "f32", reduce: "exact" },
  { title: "means", a: "f32", value: read("a", "f32"), output: "f32", reduce: "mean" },
  { title: "the largest of f32 terms", a: "f32", value: read("a", "f32"), output: "f32", reduce: "max" },
];

/** Returns the access map of a row. */
function programOf({ a, b, value, output, reduce, policy = "error" as "unchecked" }: ClaimRow): AccessFunc {
  const { table, columns: width, rows, terms } = extents;
  const hasTerms = reduce !== undefined;
  const index = hasTerms ? "%i[d0, r]" : "%i[d0]";
  const text = printed(value, { a: "%a[t, d1]", b: "%b[t, d1]" });
  return parsedAccess(`func @claim(%a: tensor<${table}x${width}x${a}>${b === undefined ? "" : `, %b: tensor<${table}x${width}x${b}>`}, %i: tensor<${rows}${hasTerms ? `x${terms}` : ""}xi32>) -> tensor<${rows}x${width}x${output}> {
  %y = access.gather %a, ${b === undefined ? "" : "%b, "}%i (d0, d1${hasTerms ? `; r < ${terms}` : ""}) let t = ${policy}(${index} in ${table}) yield ${hasTerms ? `${reduce}(${text})` : text} {oob = ${policy}}
  return %y
}
`);
}

/** Returns the bits of an output element whose terms are at these places of the tables. */
export function wantedBits(
  { value, reduce, output }: ClaimRow,
  at: readonly ((name: string) => bigint)[],
): bigint {
  const terms = at.map((place) => bitsOf(value, place));
  return reduce === undefined ? terms[0]! : reduced(reduce, output as Arithmetic, terms);
}

export const kernelOf = (row: ClaimRow, target: Target): Kernel =>
  compile(row.source ?? programOf(row), { target, residency: "gm" });

/** Undefined where text is refused, by TC505. */
function textOf(emit: () => string): string | undefined {
  try {
    return emit();
  } catch (thrown) {
    if (thrown instanceof CompileError && thrown.diagnostics[0]?.code === "TC505") return undefined;
    throw thrown;
  }
}

/** Returns the claim of a row on a backend: by its kernel, its text, its conditions. */
export function claimOf(row: ClaimRow, column: Column): Claim {
  const kept = row.policy === "unchecked" ? "promise" : "proved";
  switch (column) {
    case "reference":
    case "checked":
    case "fast":
      kernelOf(row, targets.cpu);
      return kept;
    case "direct":
      return planDirect(kernelOf(row, targets.cpu).tile) === undefined ? "not taken" : kept;
    case "WebGPU":
      return /\/\/ (exact|whole)/.test(kernelOf(row, targets.webgpu).wgsl().code)
        ? "proved, native steps"
        : kept;
    case "PTO text": {
      const kernel = kernelOf(row, targets.ascendA2);
      if (textOf(() => kernel.pto().code) === undefined) return "refused";
      return kernel.pto().assumes.length > 0 ? "conditional" : kept;
    }
    case "PyPTO text": {
      const kernel = kernelOf(row, targets.ascendA2);
      const text = textOf(() => kernel.pypto());
      if (text === undefined) return "refused";
      // It tests no index.
      return kernel.pto().assumes.length > 0 ? "conditional" : "promise";
    }
  }
}

/** Markdown. */
export function claimsPage(): string {
  const rows = claimRows.map(
    (row) => `| ${[row.title, ...columns.map((column) => claimOf(row, column))].join(" | ")} |`,
  );
  return `${[
    "# What is claimed where",
    "",
    "Which classes of programs each backend and each text takes, and with which bits. `npm run docs:claims` generates this page. Each row is a class of programs, by one of them; each cell is what its kernel or its text says, and a test runs the cell: on edge bits beside exact",
    "arithmetic, text for Ascend cores on a judge of every machine that the documents allow, PyPTO programs on a stand-in. The definition is [values.md](values.md); conditions are in [pto.md](pto.md#values).",
    "",
    ...Object.entries(words).map(([word, meaning]) => `- **${word}**: ${meaning}.`),
    "",
    `| Programs | ${columns.join(" | ")} |`,
    `| --- |${columns.map(() => " --- |").join("")}`,
    ...rows,
    "",
    "The checked and the fast executor are those of `sim`; direct is the walk of a call over the caller's arrays. PyPTO tests no index, so that all of its cells are promises, conditional",
    "ones too. No backend computes f32 natively without a proof.",
  ].join("\n")}\n`;
}
