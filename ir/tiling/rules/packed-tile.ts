/** Rule 5: what a tile reads of packed elements starts at a byte (B9). */
import type { Operand } from "../../func.js";
import { at } from "../../types.js";
import { entryUpTo, keepsStep, limitOf, packingOf, type PackedStep } from "../packed.js";
import type { Tiling } from "../tiling.js";
import type { Rule, RuleVerdict } from "./rule.js";

const source = "docs/values.md: packed elements";

/**
 * Rule of packed elements (several elements share a byte): the data that a tile reads starts at a byte
 * boundary.
 */
export const packedTile: Rule = {
  id: "packed-tile",
  code: "TC304",
  judge(tiling) {
    const { steps, never, reduction, uneven } = packingOf(tiling.gather);
    const stuck: RuleVerdict[] =
      never === undefined
        ? []
        : [
            {
              rule: "packed-tile",
              pass: false,
              detail: `rows of ${never} are read from the middle of a byte, whatever the tile`,
              source,
            },
          ];
    return [
      ...stuck,
      ...steps.flatMap((step, d) => (step === undefined ? [] : entries(tiling, d, step))),
      ...(reduction === undefined ? [] : reductionVerdicts(tiling, reduction)),
      ...uneven.map((operand) => shifted(operand)),
    ];
  },
};

/**
 * Returns the verdict on rows that begin inside bytes. Any tile may cut such rows; they are shifted as they
 * are loaded.
 */
const shifted = ({ name, type: { dtype, shape } }: Operand): RuleVerdict => ({
  rule: "packed-tile",
  pass: true,
  detail: `rows of ${name}, ${shape.at(-1) ?? 1} of ${dtype}, do not fill bytes: under any tile they are shifted as they are loaded`,
  source,
});

/**
 * Returns the results of the rule `packed-tile` for the extents of view and tile along dim `dim`, whose
 * elements share bytes. An extent passes if it is a multiple of `step` elements or cannot be larger. The
 * view's result is included only if the view fails. `dtype`: element type, for the message.
 */
function entries(
  tiling: Tiling,
  dim: number,
  { step, dtype }: { readonly step: number; readonly dtype: string },
): RuleVerdict[] {
  const { schedule, extents } = tiling;
  const extent = at(extents, dim);
  const both = [
    { name: "view", entry: at(schedule.view, dim), limit: extent },
    { name: "tile", entry: at(schedule.tile, dim), limit: limitOf(tiling, dim) },
  ];
  return both.flatMap(({ name, entry, limit }): RuleVerdict[] => {
    const pass = keepsStep(entry, limit, step);
    // Views are whole unless they are asked for.
    if (pass && name === "view") return [];
    return [verdictOn(`${name}[${dim}] = ${entry} of ${dtype}`, entry, limit, step)];
  });
}

/** Parts of the terms that packed elements follow. */
function reductionVerdicts({ gather, reductionTile }: Tiling, { step, dtype }: PackedStep): RuleVerdict[] {
  const { max } = gather.map.reduced ?? { max: 0 };
  return reductionTile >= max
    ? []
    : [verdictOn(`tile[r] = ${reductionTile} of ${dtype}`, reductionTile, max, step)];
}

/**
 * Returns the pass or fail result for an extent along a dim whose elements share bytes. The extent must be a
 * multiple of `step` or at least `limit`, all in elements. `name`: text for the extent in the message.
 */
function verdictOn(name: string, entry: number, limit: number, step: number): RuleVerdict {
  const pass = keepsStep(entry, limit, step);
  return {
    rule: "packed-tile",
    pass,
    get detail() {
      if (pass)
        return `${name} starts at a byte: it ${entry >= limit ? "covers the whole dim" : `is a multiple of ${step}`}`;
      const above = Math.min(limit, step * Math.ceil(entry / step));
      const nearest = [...new Set([entryUpTo(entry, limit, step), above])];
      return `${name} starts inside a byte; nearest ${nearest.join(", ")}`;
    },
    source,
  };
}
