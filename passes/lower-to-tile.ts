/**
 * lower-to-tile: the access op becomes loops over output tiles, with memory spaces spelled out.
 *
 *   access.gather … {data_tile = [3, 2], indices_tile = [3, 2]}
 *     →
 *   %data_ub = alloc : ub<3x2xf32, row 32>
 *   for %t1 = 0 to 4 step 2 parallel {
 *     load %data[0, %t1][3, 2] to %data_ub
 *     gather %data_ub[0, 0][3, 2], %indices_ub[0, 0][3, 2] to %output_ub[0, 0][3, 2] …
 *     store %output_ub to %output[0, %t1][3, 2]
 *   }
 *
 * Everything is loaded in the innermost loop; hoist-loads moves what may move. An empty output has no tasks
 * (`emptyBody`).
 */
import { withoutProfile } from "../ir/func.js";
import { isResolved } from "../ir/schedule-entries.js";
import { invariant } from "../ir/types.js";
import { decided } from "./lowered.js";
import { definePass } from "./pass.js";
import { tileProgram } from "./tile-program.js";

/**
 * Pass that lowers a program from access level to tile level: loops over output tiles with loads, one gather
 * or scatter, and stores (docs/passes/05-lower-to-tile.md).
 */
export const lowerToTile = definePass({
  name: "lower-to-tile",
  summary: "loops over output tiles with loads, one gather and stores",
  requires: ["fits-ub"],
  ensures: ["tile"],
  run(func, context) {
    if (func.level !== "access") return func;
    const { schedule } = func;
    invariant(isResolved(schedule), "lower-to-tile runs on a resolved schedule");
    const tiling = decided(context.tilings.of(func, schedule));
    context.tilings.remember(tiling);
    const lowered = tileProgram(tiling);
    // A profile is in force where enforce-full-load has judged by it.
    return func.tiles === undefined ? withoutProfile(lowered) : lowered;
  },
});
