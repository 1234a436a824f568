/**
 * Neighbours whose index values are resolved by vectors: elements of the innermost dim, or four short rows.
 */
import { soleAtom } from "../../ir/linear.js";
import type { Amount } from "../../ir/text/form-text.js";
import { at, InternalError } from "../../ir/types.js";
import type { WgslContext } from "./context.js";
import { accessAt, outputName, sourceName, wordAt } from "./elements.js";
import { numberText, computed, largestFactorFirst, named, u32Literal } from "./forms.js";
import type { AccessWords, GatherMove, IndexMove } from "./gather-move.js";
import { declareResolved, indexNames } from "./index-values.js";
import { fourOf, none } from "./resolve.js";

/**
 * Emits the WGSL functions that move groups of neighbouring elements, before `main`. Emits nothing for
 * elements of more than 4 bytes.
 */
export function emitGroupHelpers(context: WgslContext, move: GatherMove): void {
  const { out } = context;
  const { size } = context.plan.element;
  if (size > 4) return;
  const components = ["x", "y", "z", "w"];
  if (size < 4 && !move.inSoftware) {
    emitNarrowHelpers(context, move, components);
    return;
  }
  // Adapters in software shift vectors one number at a time; they multiply and choose them as a whole.
  out.line(`// the elements at four addresses${size === 4 ? "" : ", each in the high bits"}`);
  out.block("fn fetch(source: vec4u) -> vec4u", () => {
    if (size === 4) {
      out.line(
        `return vec4u(${components.map((c) => wordAt(context, move, named(`source.${c}`))).join(", ")});`,
      );
      return;
    }
    const shift = Math.log2(4 / size);
    const words = components.map((c) => wordAt(context, move, `source.${c} >> ${shift}u`));
    out.line(`let words = vec4u(${words.join(", ")});`);
    const raised = (name: string, bit: number): string => {
      const by = 2 ** (8 * size * bit);
      return `select(${name} * vec4u(${by}u), ${name}, (source & vec4u(${bit}u)) != vec4u(0u))`;
    };
    if (size === 2) {
      out.line(`return ${raised("words", 1)};`);
      return;
    }
    out.line(`let half = ${raised("words", 2)};`);
    out.line(`return ${raised("half", 1)};`);
  });
  out.line("");
  if (size === 4) return;
  out.line("// four elements side by side");
  if (size === 2) {
    out.block("fn pack(e: vec4u) -> vec2u", () => {
      out.line("return (e.xz >> vec2u(16u)) | (e.yw & vec2u(0xffff0000u));");
    });
  } else {
    out.block("fn pack(e: vec4u) -> u32", () => {
      out.line("let high = e & vec4u(0xff000000u);");
      out.line("return (high.x >> 24u) | (high.y >> 16u) | (high.z >> 8u) | high.w;");
    });
  }
  out.line("");
}

/**
 * Emits the WGSL functions that load (`fetch`) and pack (`pack`) four elements of 8 or 16 bits, for adapters
 * that are not software.
 */
function emitNarrowHelpers(context: WgslContext, move: GatherMove, components: readonly string[]): void {
  const { out } = context;
  const bits = 8 * context.plan.element.size;
  const perWord = 32 / bits;
  out.line("// the elements at four addresses, each in the low bits of a word");
  out.block("fn fetch(source: vec4u) -> vec4u", () => {
    const words = components.map((c) => wordAt(context, move, `source.${c} >> ${Math.log2(perWord)}u`));
    out.line(`let words = vec4u(${words.join(", ")});`);
    // WGSL shifts by an amount modulo 32.
    out.line(`return words >> (source * vec4u(${bits}u));`);
  });
  out.line("");
  out.line("// four elements side by side");
  if (bits === 16) {
    out.block("fn pack(e: vec4u) -> vec2u", () => {
      out.line("return (e.xz & vec2u(0xffffu)) | (e.yw << vec2u(16u));");
    });
  } else {
    out.block("fn pack(e: vec4u) -> u32", () => {
      out.line("let low = e & vec4u(0xffu);");
      out.line("return low.x | (low.y << 8u) | (low.z << 16u) | (e.w << 24u);");
    });
  }
  out.line("");
}

/**
 * Returns the WGSL call of `resolve_k`, which resolves index operand `k` for the output element at `coords`.
 * The argument is the position of the index value, or of the access that reads four values.
 */
export function resolved(
  context: WgslContext,
  { index, form, four, rule }: IndexMove,
  coords: readonly Amount[],
): string {
  const position =
    four && rule !== undefined
      ? context.access(form, 16 / rule.bytes, coords)
      : context.address(form, coords);
  return `resolve_${index}(${position})`;
}

/** Returns the index operands whose value may select no element. */
export const mayMiss = ({ indices }: GatherMove): readonly IndexMove[] =>
  indices.filter(({ rule }) => rule?.mayBeNone === true);

/**
 * Emits the declaration of `at<k>` for each index operand `k`: the indices of the elements selected for four
 * neighbouring rows from coordinates `coords` on.
 */
export function declareFourRows(context: WgslContext, move: GatherMove, coords: readonly Amount[]): void {
  const place = context.address(move.addresses.output, coords);
  for (const index of move.indices) {
    const value = resolved(context, index, coords);
    declareResolved(context, index, { name: `at${index.index}`, value, four: true, place });
  }
}

/** Emits the copy of 16 bytes in each of four neighbouring rows along dim `along`. */
export function emitFourRows(
  context: WgslContext,
  move: GatherMove,
  along: number,
  coords: readonly Amount[],
): void {
  const { out } = context;
  const elements = context.elementsOf(4);
  ["x", "y", "z", "w"].forEach((component, n) => {
    const row = shiftedBy(coords, along, n);
    const to = `${outputName(context)}[${context.access(move.addresses.output, elements, row)}]`;
    const indices = indexNames(move).map((name) => `${name}.${component}`);
    const copy = (): void => {
      const source = context.access(move.addresses.data, elements, row, indices);
      out.line(`${to} = ${accessAt(context, move, 4, source)};`);
    };
    const inRange = mayMiss(move).map(({ index }) => `at${index}.${component} != ${none}`);
    if (inRange.length === 0) {
      copy();
      return;
    }
    out.block(`if (${inRange.join(" && ")})`, copy);
    out.block("else", () => {
      out.line(`${to} = vec4u(0u);`);
    });
  });
}

const shiftedBy = (coords: readonly Amount[], along: number, by: number): Amount[] =>
  coords.map((coord, d) => {
    if (d !== along || by === 0) return coord;
    return coord.by === 0 ? { by } : computed(`${numberText(coord)} + ${by}u`);
  });

/**
 * Emits the declarations of `at<k>_<n>`: the indices of the elements that index operand `k` selects for a
 * group of neighbouring output elements. `none<k>_<n>` is true for a missing element.
 */
export function declareGroup(context: WgslContext, move: GatherMove, coords: readonly Amount[]): void {
  const { out } = context;
  const wide = context.plan.element.size > 4;
  const isStored = storesWhereResolved(move);
  if (isStored) declareStore(context, move, coords);
  for (let n = 0; n < (wide ? move.unit.group : 1); n++) {
    const place =
      isStored && !wide
        ? `to * ${context.elementsOf(outputWidth(move))}u`
        : context.address(move.addresses.output, shiftedBy(coords, coords.length - 1, n));
    for (const operand of move.indices) {
      const { index, rule, four, biased } = operand;
      if (rule === undefined) throw new InternalError("what vectors resolve has a rule");
      const neighbour = (shift: number): string =>
        resolved(context, operand, shiftedBy(coords, coords.length - 1, shift));
      const value =
        wide || four ? neighbour(n) : `${fourOf(rule, biased)}(${[0, 1, 2, 3].map(neighbour).join(", ")})`;
      declareResolved(context, operand, { name: `at${index}_${n}`, value, four: !wide, place });
      if (!rule.mayBeNone) continue;
      out.line(`let none${index}_${n} = at${index}_${n} == ${wide ? none : `vec4u(${none})`};`);
    }
  }
}

/** Emits code that gathers and stores a group of neighbouring output elements. */
export function emitGroup(context: WgslContext, move: GatherMove, coords: readonly Amount[]): void {
  const { out } = context;
  const { size } = context.plan.element;
  const wide = size > 4;
  const values = Array.from({ length: wide ? move.unit.group : 1 }, (_, n) => {
    const value = wide
      ? elementAt(context, move, shiftedBy(coords, coords.length - 1, n), n)
      : `fetch(${quadAddress(context, move, coords)})`;
    const missing = mayMiss(move)
      .map(({ index }) => `none${index}_${n}`)
      .join(wide ? " || " : " | ");
    const zero = `vec${size === 8 ? 2 : 4}u(0u)`;
    return missing === "" ? value : `select(${value}, ${zero}, ${missing})`;
  });
  const [first = ""] = values;
  const vector = values.length === 1 ? first : `vec4u(${values.join(", ")})`;
  if (!storesWhereResolved(move)) declareStore(context, move, coords);
  out.line(`${outputName(context)}[to] = ${size < 4 ? `pack(${first})` : vector};`);
}

/** True if each group has index values of its own: its place follows from its access of the output. */
const storesWhereResolved = ({ sharing }: GatherMove): boolean => sharing.length === 0;

const outputWidth = ({ widths }: GatherMove): AccessWords => at(widths, widths.length - 1);

/** Declares `to`, the access of the output that a group fills. */
function declareStore(context: WgslContext, move: GatherMove, coords: readonly Amount[]): void {
  const access = context.access(move.addresses.output, context.elementsOf(outputWidth(move)), coords);
  context.out.line(`let to = ${access};`);
}

/** Returns one element wider than a word. */
function elementAt(context: WgslContext, move: GatherMove, coords: readonly Amount[], n: number): string {
  const indices = move.indices.map((index) => resolvedText(index, n, "0u"));
  return `${sourceName(context, move)}[${context.address(move.addresses.data, coords, indices)}]`;
}

/**
 * Returns the WGSL text of the element that index operand `index` selects for element or row `n` of a group.
 * The text yields `zero` if no element is selected.
 */
export const resolvedText = ({ index, rule }: IndexMove, n: number, zero: string): string =>
  rule?.mayBeNone === true ? `select(at${index}_${n}, ${zero}, none${index}_${n})` : `at${index}_${n}`;

/**
 * Returns the WGSL text of a vector with the data addresses of four neighbouring output elements, from the
 * coordinates `coords` on.
 */
function quadAddress(
  context: WgslContext,
  { addresses, indices }: GatherMove,
  coords: readonly Amount[],
): string {
  const innermost = coords.length - 1;
  const { at: constantTerm, terms } = addresses.data;
  const scalar = { at: constantTerm, terms: terms.filter(({ of }) => of.kind !== "index") };
  const vectors = largestFactorFirst(terms).flatMap(({ by, of }) => {
    // Four neighbours are of one row: a remainder moves as the place itself, and a quotient stands still.
    const inRow = of.kind === "mod" ? soleAtom(of.of) : of;
    if (inRow?.kind === "dim" && inRow.dim === innermost)
      return [`vec4u(${[0, 1, 2, 3].map((n) => u32Literal(n * by)).join(", ")})`];
    if (of.kind !== "index") return [];
    const name = resolvedText(at(indices, of.index), 0, "vec4u(0u)");
    return [by === 1 ? name : `${name} * vec4u(${u32Literal(by)})`];
  });
  return [
    ...(context.isStill(scalar, coords) ? [] : [`vec4u(${context.address(scalar, coords)})`]),
    ...vectors,
  ].join(" + ");
}
