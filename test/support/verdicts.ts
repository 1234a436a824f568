/**
 * What must hold of the verdicts on one gather or scatter: `explain` says legal where `compile` compiles, `legal` has tiles where it finds
 * one, and what any of them suggests compiles when it is followed.
 */
import {
  outputOf,
  gatherDims,
  isScatter,
  type AccessFunc,
  type Diagnostic,
  type Schedule,
  type Shape,
  type SourceFunc,
  type Target,
} from "../../ir/index.js";
import { explain, legalTiles, tryCompile, type CompileOptions } from "../../src/index.js";
import { withPolicy, type ReadPolicy } from "../../ir/access.js";
import { resolveTargetOf } from "../../src/api/compile.js";
import { limitedTo } from "../../src/cli/device-limits.js";
import { accessOf } from "../../src/api/access.js";
import { scheduleIn } from "./schedule-in.js";
import { unlessRefused } from "./refusal.js";

export interface Verdicts {
  /** Of the schedule as it was asked for. */
  readonly legal: boolean;
  /** Of the schedule without its tile: whether some tile is legal. */
  readonly someTile: boolean;
  /** Suggestions that were followed: nearest schedules, ways out, hints, listed tiles. */
  readonly followed: number;
  /** Whether the count of legal tiles was compared with compiling them one by one. */
  readonly counted: boolean;
}

type Judged = SourceFunc | AccessFunc;

/** Throws an Error that names the commands that disagree. */
export function judgeVerdicts(func: Judged, schedule: Schedule, target: Target): Verdicts {
  const options = { ...schedule, target };
  const compiled = tryCompile(func, options);
  const explained = unlessRefused(() => explain(func, options));
  if ((explained?.legal ?? false) !== compiled.ok)
    throw new Error(`explain says ${yes(explained?.legal)}, compile ${yes(compiled.ok)}`);
  if (compiled.ok) checkBudget(compiled.kernel.footprint, explained?.footprint);
  const suggested = [
    ...(explained?.nearest ?? []),
    ...(explained?.infeasible?.waysOut ?? []).map((way) => way.schedule),
  ];
  for (const entries of suggested) follow(func, { ...options, ...entries }, "a suggestion");
  const told = compiled.ok ? compiled.kernel.diagnostics : compiled.diagnostics.filter(isRefusal);
  const hints = told.flatMap(({ code, hint = "" }) => waysOf(hint).map((way) => ({ ...way, code, hint })));
  for (const { flags, left, code, hint } of hints) {
    const { target: other = target, oob, limits, ...entries } = flags;
    const kept = Object.fromEntries(Object.entries(options).filter(([key]) => !left.includes(key)));
    const on = typeof other === "string" ? other : limitedTo(other, limits);
    const followed = { ...kept, ...entries, target: on };
    if (mendsOne(code, left)) follow(withOob(func, oob), followed, `${code}: ${hint}`, code);
    else follow(withOob(func, oob), followed, `${code}: ${hint}`);
  }

  const { tile: _, ...open } = options;
  const chosen = tryCompile(func, open);
  const legal = unlessRefused(() => legalTiles(func, open));
  const someTile = legal !== undefined && legal.proof === undefined;
  if (someTile !== chosen.ok) throw new Error(`legal says ${yes(someTile)}, compile ${yes(chosen.ok)}`);
  if (compiled.ok && !someTile) throw new Error("legal knows no tile, and compile took one");
  const listed = [...(legal?.tiles.slice(0, 3) ?? []), ...(legal?.tiles.slice(-1) ?? [])];
  for (const { tile, residency, view, order, buffers, bytes } of listed) {
    const kernel = follow(func, { ...open, tile, residency, view, order, buffers }, "a listed tile");
    if (kernel?.footprint?.bytes !== bytes)
      throw new Error(
        `legal lists ${bytes} B for tile ${tile.join()}, compile ${kernel?.footprint?.bytes} B`,
      );
  }
  const defaults = legal?.tiles.filter((listing) => listing.default) ?? [];
  if (chosen.ok && String(defaults.map(({ tile }) => tile)) !== String(chosen.kernel.tile.schedule.tile))
    throw new Error(`legal marks ${defaults.length} tiles as the one that compile chooses`);
  const access = unlessRefused(() => accessOf(func, open));
  const count = access === undefined ? undefined : countOneByOne(func, access, open);
  if (count !== undefined && legal?.count !== undefined && legal.count !== count)
    throw new Error(`legal counts ${legal.count} tiles, and ${count} compile`);
  return {
    legal: compiled.ok,
    someTile,
    followed: suggested.length + hints.length + listed.length,
    counted: count !== undefined && legal?.count !== undefined,
  };
}

const yes = (verdict: boolean | undefined): string => (verdict === true ? "yes" : "no");

interface Sizes {
  readonly bytes: number;
  readonly planned: number;
  readonly budget: number;
}

/** The written sum and the padded plan both hold. */
function checkBudget(compiled: Sizes | undefined, explained: Sizes | undefined): void {
  if (compiled === undefined || explained === undefined) throw new Error("a legal program has a footprint");
  const { bytes, planned, budget } = compiled;
  if (Math.max(bytes, planned) > budget) throw new Error(`compile took ${bytes} B, planned ${planned} B`);
  if (bytes !== explained.bytes || planned !== explained.planned)
    throw new Error(`explain says ${explained.bytes} B, compile ${bytes} B`);
}

/** Compiles a program as it was suggested. Throws an Error if it is refused; with `unless`, if by this code. */
function follow(func: Judged, options: CompileOptions, what: string, unless?: string) {
  const result = tryCompile(func, options);
  if (result.ok) return result.kernel;
  if (unless !== undefined && !result.diagnostics.some(({ code }) => code === unless)) return undefined;
  const shown = JSON.stringify({ ...options, target: resolveTargetOf(func, options).name });
  throw new Error(`${what} is refused: ${shown}: ${result.diagnostics.map((d) => d.message).join("; ")}`);
}

const isRefusal = ({ severity }: Diagnostic): boolean => severity === "error";

/** Codes of the rules of an operator about its types, ranks and shapes, which are judged before any schedule. */
const operatorRules = ["TC102", "TC103", "TC104"];

/** True for the hint that mends an operator's input or one entry of a schedule, which may have other faults. */
const mendsOne = (code: string, left: readonly string[]): boolean =>
  [...operatorRules, "TC302", "TC303"].includes(code) || left.length > 0;

/** Flags of a hint, and the schedule entries that it says to leave out. */
interface Way {
  readonly flags: Schedule & { readonly target?: string; readonly oob?: string; readonly limits?: string };
  readonly left: readonly string[];
}

/** The ways that a hint names as flags: `--tile 1,2 --residency gm, or --profile head`. */
function waysOf(hint: string): Way[] {
  const left = [...hint.matchAll(/leave --(\S+) out/g)].map(([, flag]) => flag!);
  const named =
    hint.replaceAll(/leave --\S+ out/g, "").match(/--[\w-]+ [^\s-]\S*(?: --[\w-]+ [^\s-]\S*)*/g) ?? [];
  return [
    ...left.map((flag): Way => ({ flags: {}, left: [flag] })),
    ...named.map((text): Way => ({ flags: flagsIn(text.replaceAll(/[,;:](?= |$)/g, "")), left: [] })),
  ];
}

const flagsIn = (text: string): Way["flags"] => {
  const others = Object.fromEntries(
    [...text.matchAll(/--(target|oob|limits) (\S+)/g)].map(([, name, value]) => [name, value]),
  );
  const rest = text.replaceAll(/--(?:target|oob|limits) \S+/g, "").trim();
  return { ...(rest === "" ? {} : scheduleIn(rest)), ...others };
};

/** The program with another policy. */
const withOob = (func: Judged, oob: string | undefined): Judged =>
  oob === undefined
    ? func
    : func.level === "source"
      ? { ...func, attrs: { ...func.attrs, oob } }
      : { ...func, map: withPolicy(func.map, oob as ReadPolicy) };

/** Tiles to compile one by one, at most. */
const mostCounted = 48;

/**
 * The tiles that compile, of those with entries from 1 to the extents of the view; undefined where there are many, and where
 * the profile pins an entry that may lie beyond.
 */
function countOneByOne(func: Judged, access: AccessFunc, options: CompileOptions): number | undefined {
  const output = outputOf(access).type.shape;
  const pinned = access.sharedDims.length > 0 && options.profile !== "head" && options.residency !== "gm";
  if (pinned || isScatter(access.map) || gatherDims(access.map).length === 0) return undefined;
  const limits = output.map((extent, d) =>
    Math.max(1, Math.min(extent, access.schedule.view?.[d] ?? extent)),
  );
  if (limits.reduce((product, limit) => product * limit, 1) > mostCounted) return undefined;
  const tiles = limits.reduce<Shape[]>(
    (shorter, limit) => shorter.flatMap((tile) => Array.from({ length: limit }, (_, k) => [...tile, k + 1])),
    [[]],
  );
  // The dims of DirectML's leading ones stand in front of those of the access level.
  const ones = (func.operands.at(-1)?.type.shape.length ?? 0) - output.length;
  return tiles.filter(
    (tile) => tryCompile(func, { ...options, tile: [...new Array<number>(ones).fill(1), ...tile] }).ok,
  ).length;
}
