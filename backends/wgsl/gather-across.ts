/**
 * Short rows that no access of 16 bytes divides: lanes number the accesses of all rows of a tile, which lie
 * end to end in the output, and an access has words of two neighbouring rows at most.
 */
import type { Amount } from "../../ir/text/form-text.js";
import { at } from "../../ir/types.js";
import type { WgslContext } from "./context.js";
import { accessAt, outputName } from "./elements.js";
import { named, numberText, zero } from "./forms.js";
import type { GatherMove, Unit } from "./gather-move.js";
import { mayMiss, resolved, resolvedText } from "./gather-vectors.js";
import { declareResolved } from "./index-values.js";
import { none } from "./resolve.js";

type Across = Extract<Unit, { readonly how: "across" }>;

/**
 * Emits the code by which a lane writes 16 bytes of the output, possibly across two neighbouring rows.
 * `coords`: coordinates of the 16 bytes. The innermost coordinate is the number of the 16-byte access, counted
 * through all rows in row-major order.
 */
export function emitAcross(
  context: WgslContext,
  move: GatherMove,
  { width, row, along }: Across,
  coords: readonly Amount[],
): void {
  const { out } = context;
  const { data, output } = move.addresses;
  const last = coords.length - 1;
  const pieces = 4 / width;
  // An access never leaves its row where rows are whole numbers of accesses.
  const rows = row % pieces === 0 ? [0] : [0, 1];
  out.line(`let first = ${numberText({ ...at(coords, last), by: at(coords, last).by === 0 ? 0 : pieces })};`);
  out.line(`let row0 = first / ${row}u;`);
  out.line(`let into = first - row0 * ${row}u;`);
  if (rows.length > 1) out.line(`let row1 = row0 + ${ifInNext(pieces - 1, row, "0u", "1u")};`);
  const stored = coords.map((coord, d) => (d === along ? zero : coord));
  if (move.reports) out.line(`let written = ${context.address(output, stored)};`);
  for (const k of rows) {
    const start = coords.map((coord, d) => (d === along ? named(`row${k}`) : d === last ? zero : coord));
    for (const index of move.indices) {
      const name = `at${index.index}_${k}`;
      declareResolved(context, index, {
        name,
        value: resolved(context, index, start),
        four: false,
        place: "written",
      });
      if (index.rule?.mayBeNone === true) out.line(`let none${index.index}_${k} = ${name} == ${none};`);
    }
    const indices = move.indices.map((index) => resolvedText(index, k, "0u"));
    const source = context.access(data, context.elementsOf(width), start, indices);
    out.line(`let source${k} = ${source} + into${k === 0 ? "" : ` - ${row}u`};`);
    const missing = mayMiss(move).map(({ index }) => `none${index}_${k}`);
    if (missing.length > 0) out.line(`let filled${k} = ${missing.join(" || ")};`);
  }
  const filling = width === 1 ? "0u" : "vec2u(0u)";
  const values = Array.from({ length: pieces }, (_, n) => {
    const of = (name: string): string =>
      rows.length === 1 ? `${name}0` : ifInNext(n, row, `${name}0`, `${name}1`);
    const value = accessAt(context, move, width, n === 0 ? of("source") : `${of("source")} + ${n}u`);
    return mayMiss(move).length === 0 ? value : `select(${value}, ${filling}, ${of("filled")})`;
  });
  out.line(
    `${outputName(context)}[${context.access(output, context.elementsOf(4), stored)}] = vec4u(${values.join(", ")});`,
  );
}

/**
 * Returns one of two WGSL texts: the first if word `n` of an access, counted in accesses of the data, is in
 * the row that the access begins in, and the second if it is in the next.
 */
function ifInNext(n: number, row: number, first: string, next: string): string {
  if (n === 0) return first;
  return n >= row ? next : `select(${first}, ${next}, into >= ${row - n}u)`;
}
