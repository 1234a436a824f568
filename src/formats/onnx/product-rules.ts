/** Rules of matrix products and of what is made of them. Source: onnx/onnx docs/Operators.md. */
import type { Dim } from "./model.js";
import {
  broadcast,
  int,
  quotient,
  stringAttribute,
  sum,
  times,
  typed,
  withDims,
  type DimsRule,
  type RuleInput,
  type ShapeRule,
} from "./rule.js";

/**
 * Returns a rule for the output shape of the matrix product of two inputs, whose 0-based numbers are `a` and
 * `b`. A vector is a row on the left and a column on the right. The rule returns undefined if a shape is
 * unknown or is a scalar.
 */
export const productDims =
  (a = 0, b = 1): DimsRule =>
  ({ inputs }) => {
    const [left, right] = [inputs[a]?.dims, inputs[b]?.dims];
    if (left === undefined || right === undefined || left.length === 0 || right.length === 0)
      return undefined;
    const batch = broadcast([left.slice(0, -2), right.slice(0, -2)]) ?? [];
    const rows = left.length === 1 ? [] : [left.at(-2) ?? ""];
    const columns = right.length === 1 ? [] : [right.at(-1) ?? ""];
    return [...batch, ...rows, ...columns];
  };

/**
 * Returns the output shape of Gemm: the rows of A and the columns of B, after transposition by `transA` and
 * `transB`. An unknown extent is "".
 */
export const gemmDims: DimsRule = ({ node, inputs: [a, b] }) => [
  a?.dims?.[int(node, "transA") === 1 ? 1 : 0] ?? "",
  b?.dims?.[int(node, "transB") === 1 ? 0 : 1] ?? "",
];

const ellipsis = "...";

/** Returns the letters of a term of an equation, its ellipsis as one. */
const lettersOf = (subscript: string): readonly string[] => subscript.match(/\.\.\.|[A-Za-z]/g) ?? [];

/**
 * Returns the output shape of Einsum for the equation of the node. Returns undefined if the equation and the
 * inputs differ in number of inputs or in rank, or if the dims of an input are unknown.
 */
export const einsumDims: DimsRule = ({ node, inputs }) => {
  const [left = "", right] = (stringAttribute(node, "equation") ?? "").replaceAll(/\s/g, "").split("->");
  const subscripts = left.split(",").map(lettersOf);
  if (subscripts.length !== inputs.length) return undefined;
  const extents = new Map<string, Dim>();
  const rests: (readonly Dim[])[] = [];
  for (const [k, letters] of subscripts.entries()) {
    const dims = inputs[k]?.dims;
    const hidden = (dims?.length ?? 0) - letters.filter((letter) => letter !== ellipsis).length;
    if (dims === undefined || hidden < 0 || (hidden > 0 && !letters.includes(ellipsis))) return undefined;
    let place = 0;
    for (const letter of letters) {
      if (letter === ellipsis) {
        rests.push(dims.slice(place, place + hidden));
        place += hidden;
        continue;
      }
      const [previous, extent = ""] = [extents.get(letter), dims[place]];
      if (previous === undefined || typeof previous === "string" || previous === 1)
        extents.set(letter, extent);
      place++;
    }
  }
  const named = right === undefined ? impliedOutput(subscripts) : lettersOf(right);
  const rest = broadcast(rests) ?? [];
  return named.flatMap((letter) => (letter === ellipsis ? rest : [extents.get(letter) ?? ""]));
};

/**
 * Returns the output of an equation without one: the ellipsis, then the letters that occur once, in the order
 * of their codes.
 */
function impliedOutput(subscripts: readonly (readonly string[])[]): readonly string[] {
  const all = subscripts.flat();
  const once = all.filter((letter) => letter !== ellipsis && all.indexOf(letter) === all.lastIndexOf(letter));
  return [...(all.includes(ellipsis) ? [ellipsis] : []), ...once.sort()];
}

/**
 * Returns batch, heads, steps and the size of a head, of an operand of Attention in four dims or packed in
 * three. Undefined if the dims are unknown, or are packed and the number of heads is unknown.
 */
function headsOf(dims: readonly Dim[] | undefined, heads: number | undefined): readonly Dim[] | undefined {
  if (dims === undefined || dims.length === 4) return dims;
  const [batch = "", steps = "", size = ""] = dims;
  if (dims.length !== 3 || heads === undefined) return undefined;
  return [batch, heads, steps, quotient([size], heads)];
}

/**
 * Infers the types and shapes of the four outputs of ONNX Attention: the result, the extended key and value
 * caches, and the scores.
 */
export const attention: ShapeRule = ({ node, inputs }: RuleInput) => {
  const [query, key, value, , pastKey, pastValue] = inputs;
  const kvHeads = int(node, "kv_num_heads");
  const q = headsOf(query?.dims, int(node, "q_num_heads"));
  const k = headsOf(key?.dims, kvHeads);
  const v = headsOf(value?.dims, kvHeads);
  if (q === undefined || k === undefined || v === undefined || query?.dims === undefined)
    return [typed(query?.dataType), typed(key?.dataType), typed(value?.dataType), typed(query?.dataType)];
  const [batch = "", heads = "", steps = ""] = q;
  const [, , , width = ""] = v;
  const packed = typeof heads === "number" ? times(width, heads) : "";
  const after = (extents: readonly Dim[], past: typeof pastKey): readonly Dim[] => {
    const [first = "", second = "", length = "", last = ""] = extents;
    const before = past === undefined ? 0 : (past.dims?.[2] ?? "");
    return [first, second, before === 0 ? length : sum([before, length]), last];
  };
  const keys = after(k, pastKey);
  return [
    withDims(query.dataType, query.dims.length === 3 ? [batch, steps, packed] : [batch, heads, steps, width]),
    withDims(key?.dataType, keys),
    withDims(value?.dataType, after(v, pastValue)),
    withDims(query.dataType, [batch, heads, steps, keys[2] ?? ""]),
  ];
};

/**
 * Returns the output shape of LinearAttention: batch, steps of the query, and heads times value width. An
 * unknown extent is "".
 */
export const linearAttentionDims: DimsRule = ({ node, inputs: [query, , value] }) => {
  const [batch = "", steps = ""] = query?.dims ?? [];
  const [heads, kvHeads] = [int(node, "q_num_heads"), int(node, "kv_num_heads")];
  const width = quotient([value?.dims?.[2] ?? ""], kvHeads);
  return [batch, steps, heads === undefined || kvHeads === undefined ? "" : times(width, heads)];
};
