/**
 * The instructions that a tile program's schedule asks for: a class that its gather can have, in the room
 * that its buffers leave.
 */
import { programLowering } from "../clock/index.js";
import { error, type Diagnostic } from "../diagnostic.js";
import type { TileFunc } from "../func.js";
import type { Target } from "../target.js";
import { classesOf, refusedLowering } from "../tiling/requested-lowering.js";
import { flatten } from "../tile.js";

/**
 * Returns one diagnostic if the gather cannot have the lowering that the schedule requests; else an empty
 * list. The code is TC401 if the unified buffer (UB) is too small, else TC403.
 */
export function verifyLowering(func: TileFunc, target: Target): Diagnostic[] {
  const { lowering: requested } = func.schedule;
  if (requested === undefined) return [];
  const gather = flatten(func.body).find((stmt) => stmt.op === "gather");
  const lowering = programLowering(func, target);
  if (gather === undefined || lowering === undefined) return [];
  const [data] = gather.from;
  const dataInUb = !func.operands.some(({ name }) => name === data?.buffer);
  const refused = refusedLowering(lowering, requested, target, dataInUb);
  if (refused === undefined) return [];
  const hint = classesOf(lowering)
    .map((other) => `--lowering ${other}`)
    .join(" or ");
  return [
    refused.room
      ? error("TC401", `lowering ${requested} ${refused.reason}`, { span: func.span, hint })
      : error("TC403", `lowering ${requested} does not apply: ${refused.reason}`, { span: func.span, hint }),
  ];
}
