/** UB addresses as a table: where each copy of each buffer lies. */
import type { TileExplanation } from "../api/explain-tile.js";
import { table } from "./table.js";

/**
 * Returns a table of unified buffer (UB) addresses as text: the first byte, end and size of each copy of each
 * buffer, in bytes.
 */
export const renderPlan = ({ name, target, plan, peak, budget }: TileExplanation): string =>
  [
    `@${name} on ${target}: peak ${peak} B of ${budget} B`,
    table(
      ["buffer", "from", "to", "bytes"],
      plan.map(({ buffer, copy, from, to }) => [
        `%${buffer}${copy === 0 ? "" : ` copy ${copy}`}`,
        from,
        to,
        to - from,
      ]),
    ),
  ].join("\n");
