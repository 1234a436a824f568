/** load: gm to workgroup memory, a word a lane, rows padded to whole words. */
import type { LoadStmt } from "../../ir/tile.js";
import { at, elementCount, invariant, strides } from "../../ir/types.js";
import type { Context } from "./context.js";
import { emitExpr, scaled, sum } from "./expr.js";
import { identifier } from "./names.js";

export function emitLoad(context: Context, stmt: LoadStmt): void {
  const { out, buffers } = context;
  const { perWord, wordsPer } = context.element;
  const buffer = buffers.get(stmt.to);
  invariant(buffer !== undefined, `%${stmt.to} has no alloc`);
  if (elementCount(buffer.shape) === 0) return;
  const rowWords = buffer.rowBytes / 4;
  const outer = buffer.shape.slice(0, -1);
  const source = identifier(stmt.from.buffer);
  const gm = strides(context.paramShape(stmt.from.buffer));
  const rank = buffer.shape.length;
  context.lanesOver(elementCount(outer) * rowWords, () => {
    const names = context.decode("slot", [...outer, rowWords]);
    const word = at(names, rank - 1);
    const guards = stmt.from.sizes
      .slice(0, -1)
      .flatMap((size, k) => context.guard(at(names, k), size, at(outer, k)));
    const row = sum(
      outer.flatMap((_, k) => context.address(at(stmt.from.offsets, k), at(names, k), at(gm, k))),
    );
    const lastOffset = at(stmt.from.offsets, rank - 1);
    const lastSize = emitExpr(at(stmt.from.sizes, rank - 1));
    const target = `${identifier(buffer.name)}[slot]`;
    context.guarded(guards, () => {
      if (perWord === 1) {
        const words = wordsPer === 1 ? lastSize : `(${lastSize}) * ${wordsPer}u`;
        const from = sum([...scaled(row, wordsPer), ...scaled(emitExpr(lastOffset), wordsPer), word]);
        out.line(`if (${word} < ${words}) { ${target} = ${source}[${from}]; }`);
        return;
      }
      out.line(`let row = ${sum([row, ...scaled(emitExpr(lastOffset), 1)].filter((t) => t !== "0u"))};`);
      out.line("var packed = 0u;");
      for (let e = 0; e < perWord; e++) {
        const place = `${word} * ${perWord}u + ${e}u`;
        out.block(`if (${place} < ${lastSize})`, () => {
          out.line(`let source = row + ${place};`);
          out.line(`packed |= ${context.unpack(source, "source")} << ${(e * 32) / perWord}u;`);
        });
      }
      out.line(`${target} = packed;`);
    });
  });
}
