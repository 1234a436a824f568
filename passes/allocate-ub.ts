/**
 * allocate-ub: gives every UB buffer its byte addresses.
 *
 *   %data_ub = alloc : ub<3x2xf32, row 32>     →     %data_ub = alloc : ub<3x2xf32, row 32> at [0]
 *
 * In program order, one behind the other: the operands of one gather are all live while it runs. Two copies
 * lie side by side. Reports TC401 should the peak exceed the budget, which fit-ub's sum rules out under the
 * full rule.
 */
import { defined } from "../ir/defined.js";
import { error } from "../ir/diagnostic.js";
import { ubBytes, type AllocStmt, type Stmt, type UbBuffer } from "../ir/tile.js";
import { alignUp } from "../ir/types.js";
import { definePass } from "./pass.js";

/**
 * Pass that assigns aligned, disjoint byte addresses to the buffers in the unified buffer (UB). The pass
 * reports an error (TC401) if the buffers exceed the budget.
 */
export const allocateUb = definePass({
  name: "allocate-ub",
  summary: "aligned, disjoint byte addresses for the UB buffers",
  requires: ["tile"],
  ensures: ["allocated"],
  run(func, context) {
    if (func.level !== "tile") return func;
    const { target } = context;
    const placed: { readonly buffer: UbBuffer; readonly start: number; readonly end: number }[] = [];
    let next = 0;
    for (const { buffer } of func.body.filter((stmt): stmt is AllocStmt => stmt.op === "alloc")) {
      const end = next + alignUp(ubBytes(buffer), target.blockBytes) * buffer.buffers;
      placed.push({ buffer, start: next, end });
      next = end;
    }
    const peak = Math.max(0, ...placed.map((place) => place.end));
    const budget = func.schedule.ubBytes ?? target.ubBytes;
    if (peak > budget) {
      context.report(
        error(
          "TC401",
          `the buffers need ${peak} B of unified buffer, over ${budget} B (target ${target.name})`,
          {
            ...defined({ span: func.span }),
            notes: placed.map((p) => `%${p.buffer.name} ${p.end - p.start} B at ${p.start}`),
            hint: "padding, scratch and second buffers count here; --budget-rule full counts them when it chooses a tile",
            data: { bytes: peak, budget },
          },
        ),
      );
    }
    const addresses = new Map(
      placed.map(({ buffer, start, end }) => {
        const copy = (end - start) / buffer.buffers;
        return [buffer.name, Array.from({ length: buffer.buffers }, (_, k) => start + k * copy)] as const;
      }),
    );
    const body = func.body.map((stmt): Stmt => {
      const at = stmt.op === "alloc" ? addresses.get(stmt.buffer.name) : undefined;
      return stmt.op === "alloc" && at !== undefined
        ? { ...stmt, buffer: { ...stmt.buffer, addresses: at } }
        : stmt;
    });
    return { ...func, body };
  },
});
