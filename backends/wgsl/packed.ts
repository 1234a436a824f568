/**
 * gather of 8- and 16-bit elements whose rows share words with their neighbours: a lane takes the words whose first
 * element lies in a row of the tile, so that no two lanes of the grid ever write one word.
 */
import { gatherAccesses } from "../../ir/access.js";
import { largestValue } from "../../ir/expr.js";
import type { GatherStmt } from "../../ir/tile.js";
import { at, elementCount, strides } from "../../ir/types.js";
import { isParam } from "../../ir/verify/accesses.js";
import type { Context } from "./context.js";
import { emitExpr, scaled, sum } from "./expr.js";
import { identifier } from "./names.js";
import { canBeNone, none, sawWorst } from "./resolve.js";
import { declareElements, positionOf, sourceOf, whereFound } from "./sources.js";

export function emitPackedGather(context: Context, stmt: GatherStmt): void {
  const { out, func } = context;
  const { perWord } = context.element;
  const tile = stmt.to.sizes.map((size) => largestValue(size) ?? 0);
  const rank = tile.length;
  const rows = tile.slice(0, -1);
  const wordsInRow = Math.ceil((tile[rank - 1] ?? 1) / perWord);
  const gm = strides(func.output.type.shape);
  const total = elementCount(func.output.type.shape);
  context.lanesOver(elementCount(rows) * wordsInRow, () => {
    const names = context.decode("slot", [...rows, wordsInRow]);
    const guards = stmt.to.sizes
      .slice(0, -1)
      .flatMap((size, d) => context.guard(at(names, d), size, at(rows, d)));
    context.guarded(guards, () => {
      const first = stmt.to.offsets.flatMap((offset, d) =>
        context.address(offset, d === rank - 1 ? "0u" : at(names, d), at(gm, d)),
      );
      const length = rank === 0 ? "1u" : emitExpr(at(stmt.to.sizes, rank - 1));
      out.line(`let first = ${sum(first)};`);
      const place = at(names, Math.max(0, rank - 1));
      out.line(`let word = (first + ${perWord - 1}u) / ${perWord}u + ${place};`);
      out.block(`if (word * ${perWord}u < first + ${length})`, () => {
        out.line("var packed = 0u;");
        out.block(`for (var e = 0u; e < ${perWord}u; e++)`, () => {
          out.line(`let flat = word * ${perWord}u + e;`);
          const beyond = (): void => {
            // The rest of the word belongs to another tile's elements: straight from global memory.
            const inside = total % perWord === 0 ? "" : `if (flat < ${total}u) `;
            out.line(`${inside}{ packed |= element(flat) << (e * ${32 / perWord}u); }`);
          };
          if (isParam(func, stmt.data.buffer)) {
            beyond();
            return;
          }
          out.block(`if (flat < first + ${length})`, () => {
            const coords = rank === 0 ? [] : [...names.slice(0, rank - 1), "(flat - first)"];
            declareElements(context, stmt, coords);
            for (const { dim, access } of gatherAccesses(stmt.map)) {
              reportIndex(context, stmt, dim, positionOf(context, stmt, access, coords));
            }
            const { name, address } = sourceOf(context, stmt, coords);
            whereFound(context, stmt, () => {
              out.line(`let source = ${address};`);
              out.line(`packed |= ${context.unpack(name, "source")} << (e * ${32 / perWord}u);`);
            });
          });
          out.block("else", beyond);
        });
        out.line(`${identifier(stmt.to.buffer)}[word] = packed;`);
      });
    });
  });
}

/** fn element(flat) -> the bits of one output element, from global memory: packed elements that tiles share. */
export function emitElement(context: Context, stmt: GatherStmt): void {
  const { out, func } = context;
  const data = strides(func.data.type.shape);
  const index = strides(func.indices.type.shape);
  out.block("fn element(flat: u32) -> u32", () => {
    const names = context.decode("flat", func.output.type.shape);
    const terms = stmt.map.results.flatMap((access, k) => {
      if (access.kind === "direct") return scaled(at(names, access.dim), at(data, k));
      const position = sum(
        access.at.flatMap((c, dim) =>
          scaled(c.kind === "dim" ? at(names, c.dim) : `${c.value}u`, at(index, dim)),
        ),
      );
      out.line(`let at${k} = resolve_${k}(${position});`);
      reportIndex(context, stmt, k, position);
      if (canBeNone(stmt.oob, at(func.data.type.shape, k))) {
        out.line(`if (at${k} == ${none}) { return 0u; }`);
      }
      return scaled(`at${k}`, at(data, k));
    });
    if (func.data.type.shape.includes(0)) {
      out.line("return 0u;");
      return;
    }
    out.line(`let source = ${sum(terms)};`);
    out.line(`return ${context.unpack(identifier(func.data.name), "source")};`);
  });
  out.line("");
}

/** A word may hold another tile's elements, which nobody else looks at: an index out of range is reported where it is read. */
function reportIndex(context: Context, stmt: GatherStmt, k: number, position: string): void {
  if (stmt.oob !== "error") return;
  const extent = at(context.func.data.type.shape, k);
  context.out.block(`for (var again = ${sawWorst(k, extent, false)}; again; again = false)`, () => {
    context.out.line(`report_${k}(${position});`);
  });
}
