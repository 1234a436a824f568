/** Rows of global memory two at a time (ir/tiling/row-pairs.ts): V makes numbers of rows, the scalar unit reads one for each row. */
import { pickedFrom } from "../../ir/access.js";
import { inputOf } from "../../ir/func.js";
import { loopPart, scale } from "../../ir/linear.js";
import type { RowPairs } from "../../ir/tiling/gather-lowering.js";
import { numberStrides, rowStep } from "../../ir/tiling/row-pairs.js";
import { ubStrides } from "../../ir/tile.js";
import { at, invariant } from "../../ir/types.js";
import { fixed, product, type PtoContext, type TileShape } from "./context.js";
import { eventOfLowering } from "./events.js";
import { times } from "./forms.js";
import { emitRowNumbers } from "./gather-flat.js";
import { overDims } from "./gather-rows.js";
import { outputBuffer, type PtoGather } from "./plan.js";
import { i32 } from "./words.js";

export function emitRowPairs(context: PtoContext, gather: PtoGather, { batch }: RowPairs): void {
  const { out, plan } = context;
  const { stmt, addresses, rules } = gather;
  const output = outputBuffer(plan, gather);
  const index = plan.buffers.get(at(stmt.from, 1).buffer);
  invariant(index !== undefined, "indices of pairs are in UB");
  const first = pickedFrom(stmt.map);
  const word = plan.words(output.name);
  const sizes = stmt.to.sizes.map((size, d) => context.extent(size, at(output.shape, d)));
  const inner = product(sizes.slice(first));
  const columns = inner.fixed
    ? fixed(inner.most * word.each)
    : { text: times(inner.text, word.each), most: inner.most * word.each, fixed: false };
  // A row is the first of a pair's two places in the output, which lie this far apart.
  const pitch = at(ubStrides(output), first - 1) * word.each;
  const shape = (rows: number): TileShape => ({
    word,
    rows,
    columns: pitch,
    valid: [fixed(rows), columns],
  });
  const data = inputOf(plan.func, 0);
  const coords = data.type.shape.length - (stmt.to.sizes.length - first);
  const step = rowStep(data.type.shape, coords) * word.each;
  const start = `${plan.names.buffer(data.name)}${context.more(scale(loopPart(addresses.data), word.each))}`;
  const none = rules.some(({ outside }) => outside === "none");

  context.wait("MTE2", "V");
  context.takeTurn(output);
  const numbers = emitRowNumbers(context, gather, { index, output, sizes: sizes.slice(0, first) });
  context.wait("V", "S");
  const count = at(sizes, first - 1);
  const listed = numberStrides(output.shape.slice(0, first), plan.target);
  overDims(context, gather, output, first - 1, (outer) => {
    const dims = [...outer.slice(0, first - 1), "0"];
    const sum = (steps: readonly number[], by: number): string =>
      dims.flatMap((own, d) => (own === "0" ? [] : [` + ${times(own, at(steps, d) * by)}`])).join("");
    const list = sum(listed, 1);
    const place = context.address(output) + sum(ubStrides(output), word.bytes * word.each);
    const bytes = pitch * word.bytes;
    const placeOf = (k: string): string => `${place} + ${times(k, bytes)}`;
    const fetch = (rows: 1 | 2, lowest: string, to: string): void => {
      const steps = `Stride<1, 1, 1, ${rows === 1 ? "1" : "DYNAMIC"}, 1>`;
      const extents = `Shape<1, 1, 1, ${rows}, ${columns.fixed ? columns.text : "DYNAMIC"}>`;
      const type = context.type("GmData", `GlobalTensor<${word.name}, ${extents}, ${steps}, Layout::ND>`);
      const [from, tile] = [context.fresh("load"), context.fresh("row")];
      const sized = `${type}::Shape(${columns.fixed ? "" : `(int64_t)(${columns.text})`})`;
      const apart = rows === 1 ? "" : `, ${steps}((int64_t)(high - low) * ${step})`;
      out.line(`${type} ${from}(${start} + (int64_t)${lowest} * ${step}, ${sized}${apart});`);
      context.tile(tile, rows === 1 ? "Row" : "Pair", shape(rows), to);
      out.line(`TLOAD(${tile}, ${from});`);
    };
    const copy = (to: string, from: string): void => {
      const [own, other] = [context.fresh("row"), context.fresh("row")];
      context.tile(own, "Row", shape(1), to);
      context.tile(other, "Row", shape(1), from);
      // Of one row and words of one size (pto-isa include/pto/npu/a2a3/TMov.hpp:88).
      out.line(`TMOV(${own}, ${other});`);
    };
    const zero = (to: string): void => {
      const own = context.fresh("row");
      const words = bytes / i32.bytes;
      context.tile(own, "Zeros", { word: i32, rows: 1, columns: words, valid: [fixed(1), fixed(words)] }, to);
      out.line(`TEXPANDS(${own}, (int32_t)0);`);
    };
    const event = `EVENT_ID${eventOfLowering}`;
    const pairs = (body: () => void): void => {
      context.scope(`for (int32_t slot = start; slot < until; slot += 2)`, body);
    };
    out.line(`uint64_t turn = 0; // the half of what is turned that V does not work at`);
    context.scope(`for (int32_t start = 0; start < ${count.text}; start += ${batch})`, () => {
      out.line(`const int32_t until = start + ${batch} < ${count.text} ? start + ${batch} : ${count.text};`);
      out.line(`int32_t picks[${batch}];`);
      pairs(() => {
        out.line(`const int32_t own = ${numbers}.GetValue(slot${list});`);
        out.line(`const int32_t next = slot + 1 < until ? ${numbers}.GetValue(slot + 1${list}) : own;`);
        out.line("picks[slot - start] = own;");
        out.line("picks[slot - start + 1] = next;");
        out.line("const int32_t low = own < next ? own : next, high = own < next ? next : own;");
        context.scope(none ? "if (0 <= low && low < high)" : "if (low < high)", () => {
          const turned = `turned_ub + turn + (slot - start) * ${bytes}`;
          fetch(2, "low", `own < next ? ${placeOf("slot")} : ${turned}`);
        });
        context.scope(none ? "else if (0 <= high)" : "else", () => {
          fetch(1, "high", placeOf(none ? "(own == high ? slot : slot + 1)" : "slot"));
        });
      });
      out.line("// V has done the batch before");
      out.line(`if (start > 0) wait_flag(PIPE_V, PIPE_MTE2, ${event});`);
      context.wait("MTE2", "V");
      pairs(() => {
        out.line("const int32_t own = picks[slot - start], next = picks[slot - start + 1];");
        if (none) {
          context.scope("if (own < 0)", () => {
            zero(placeOf("slot"));
          });
          context.scope("if (next < 0 && slot + 1 < until)", () => {
            zero(placeOf("(slot + 1)"));
          });
        }
        context.scope(none ? "if (0 <= next && next < own)" : "if (next < own)", () => {
          const turned = `turned_ub + turn + (slot - start) * ${bytes}`;
          copy(placeOf("slot"), `${turned} + ${bytes}`);
          copy(placeOf("(slot + 1)"), turned);
        });
        context.scope(`if (${none ? "0 <= own && " : ""}own == next && slot + 1 < until)`, () => {
          copy(placeOf("(slot + 1)"), placeOf("slot"));
        });
      });
      out.line(`set_flag(PIPE_V, PIPE_MTE2, ${event});`);
      out.line(`turn = ${batch * bytes} - turn;`);
    });
    out.line(`wait_flag(PIPE_V, PIPE_MTE2, ${event});`);
  });
  context.wait("S", "MTE2");
}
