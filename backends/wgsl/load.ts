/** load: gm to workgroup memory, a word a lane, rows padded to whole words. */
import { scale } from "../../ir/linear.js";
import { at, elementCount } from "../../ir/types.js";
import type { Context } from "./context.js";
import { sum } from "./forms.js";
import type { LoadMove } from "./plan.js";

export function emitLoad(context: Context, { stmt, buffer, row, how, waits }: LoadMove): void {
  const { out, names } = context;
  const { perWord, wordsPer } = context.plan.element;
  if (elementCount(buffer.shape) === 0) return;
  if (waits) out.line("workgroupBarrier();");
  const rowWords = buffer.rowBytes / 4;
  const outer = buffer.shape.slice(0, -1);
  const source = names.buffer(stmt.from.buffer);
  const target = `${names.buffer(buffer.name)}[slot]`;
  const size = context.form(at(stmt.from.sizes, outer.length));
  context.lanesOver(elementCount(outer) * rowWords, () => {
    const coords = context.decode("slot", [...outer, rowWords]);
    const word = at(coords, outer.length);
    const guards = outer.flatMap((extent, k) => context.guard(at(coords, k), at(stmt.from.sizes, k), extent));
    context.guarded(guards, () => {
      if (how === "words") {
        const words = wordsPer === 1 ? size : `(${size}) * ${wordsPer}u`;
        const from = sum(
          [context.address(scale(row, wordsPer), coords), word].filter((text) => text !== "0u"),
        );
        out.line(`if (${word} < ${words}) { ${target} = ${source}[${from}]; }`);
        return;
      }
      out.line(`let row = ${context.address(row, coords)};`);
      out.line("var packed = 0u;");
      for (let e = 0; e < perWord; e++) {
        const place = `${word} * ${perWord}u + ${e}u`;
        out.block(`if (${place} < ${size})`, () => {
          out.line(`let source = row + ${place};`);
          out.line(`packed |= ${context.unpack(source, "source")} << ${(e * 32) / perWord}u;`);
        });
      }
      out.line(`${target} = packed;`);
    });
  });
}
