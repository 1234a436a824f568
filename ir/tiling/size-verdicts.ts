/** The budget rule as a formula in a symbol: what a schedule takes of UB for every size, and up to which size it fits. */
import { followedDims } from "../access.js";
import { keyOf } from "../func.js";
import { largestThat } from "../largest-that.js";
import type { Sym } from "../symbolic.js";
import { alignUp, at, dtypeBytes } from "../types.js";
import type { FootprintPart } from "./footprint.js";
import type { Tiling } from "./tiling.js";

/** The sizes of one symbol that fit, every other symbol at its most and every tile as large as at the most. */
export interface SizeVerdict {
  readonly symbol: string;
  readonly most: number;
  /** `96 N + 64 <= 196608`, in bytes; `round32(4 P)` where rows are padded to a block. */
  readonly formula: string;
  /** The largest size that fits; undefined where not even 0 does. */
  readonly fits: number | undefined;
}

/** `96 N + 64 <= 196608 bytes: legal for N <= 2047`. */
export const formatSizeVerdict = ({ symbol, most, formula, fits }: SizeVerdict): string =>
  fits === undefined
    ? `${formula} bytes: no size of ${symbol} fits`
    : `${formula} bytes: legal for ${symbol} <= ${fits}${fits === most ? ", its most" : ""}`;

/** A verdict for each symbol that is the outermost extent of an operand which is whole in UB along it. */
export function sizeVerdicts(tiling: Tiling): SizeVerdict[] {
  const { symbolic } = tiling.gather;
  return (symbolic?.symbols ?? []).flatMap((symbol) => verdict(tiling, symbol, symbolic?.outermost ?? []));
}

function verdict(
  { gather, footprint, target }: Tiling,
  { name, most }: Sym,
  outermost: readonly (string | null)[],
): SizeVerdict[] {
  const open = new Set(
    gather.operands.flatMap((operand, k) =>
      k < gather.operands.length - 1 && outermost[k] === name && followedDims(gather.map, k)[0] === undefined
        ? [keyOf(operand)]
        : [],
    ),
  );
  const moved = footprint.parts.filter(({ part }) => open.has(part));
  if (moved.length === 0) return [];
  const padded = (part: FootprintPart): boolean => part.tile.length === 1 && footprint.rule === "full";
  const lines = moved.filter((part) => !padded(part));
  const each = lines.reduce((sum, part) => sum + part.counted / at(part.tile, 0), 0);
  const rows = moved.filter(padded).map((part) => ({ by: dtypeBytes[part.dtype], buffers: part.buffers }));
  const rest = footprint.parts.reduce((sum, part) => sum + (open.has(part.part) ? 0 : part.counted), 0);
  const block = target.blockBytes;
  const bytes = (size: number): number =>
    each * size +
    rows.reduce((sum, { by, buffers }) => sum + buffers * alignUp(Math.max(1, size) * by, block), rest);
  const terms = [
    ...(each === 0 ? [] : [`${each} ${name}`]),
    ...rows.map(({ by, buffers }) => `${buffers === 1 ? "" : `${buffers} `}round${block}(${by} ${name})`),
    ...(rest === 0 ? [] : [String(rest)]),
  ];
  const fits = largestThat(0, most, (size) => bytes(size) <= footprint.budget);
  return [{ symbol: name, most, formula: `${terms.join(" + ")} <= ${footprint.budget}`, fits }];
}
