/**
 * A search over a family of sizes: the best schedule at each, what every other size's costs there, the best
 * single one, and a table of few ranges, each with one schedule.
 *
 * Between the sizes that are asked for others are costed too, by schedules that are known, so that ranges end
 * where these cross.
 */
import {
  defined,
  at,
  bindSizes,
  bindSome,
  CompileError,
  cyclesOf,
  error,
  formatSizes,
  dynamicSymbols,
  outputOf,
  throwIfErrors,
  withMaxSizes,
  type AccessFunc,
  type Func,
  type ResolvedSchedule,
  type Shape,
  type Sym,
  type Target,
} from "../../../ir/index.js";
import { isObject, integer, type Fields } from "../../../backends/index.js";
import { accessOf } from "../../api/access.js";
import { checkOptions, checkProgram } from "../../api/check-options.js";
import { pieceAt, type Piece } from "../../api/pieces.js";
import { compile, compileFields, resolveTargetOf, type CompileOptions } from "../../api/compile.js";
import type { TuneOptions } from "../options.js";
import type { TuneResult } from "../result.js";
import { tune, tuneFields } from "../tune.js";
import { cyclesUnder } from "../cycles-under.js";
import { nearestOf, nearSome, piecesOf, type Choice, type Cycles } from "./pieces.js";

/**
 * Options of {@link tuneSizes}: the sizes, the largest number of size ranges (each gets one schedule), and
 * the options of the search at each size.
 */
export interface SizesOptions
  extends CompileOptions, Pick<TuneOptions, "budget" | "seed" | "signal" | "onProgress"> {
  /**
   * Sizes of the program's one dynamic symbol, by its name, in elements: 1 or more each. `bind` has the sizes
   * of the other symbols.
   */
  readonly sizes: Readonly<Record<string, readonly number[]>>;
  /** Largest number of size ranges, each with one schedule. Default 6. */
  readonly pieces?: number;
}

/**
 * Largest number of size ranges in the result of {@link tuneSizes}, if the caller gives no number. Each range
 * has one schedule.
 */
export const defaultPieces = 6;

/**
 * Result of {@link tuneSizes} at one size of the dynamic symbol: the best schedule, and the estimated cycles
 * of several schedules at the size.
 */
export interface SizeResult {
  readonly size: number;
  readonly best: { readonly cycles: number; readonly schedule: ResolvedSchedule };
  /** Cycles with the schedule of the size range that contains the size. */
  readonly table: { readonly cycles: number };
  /** Cycles with the one schedule that is best over all sizes. */
  readonly single: { readonly cycles: number };
  /**
   * Cycles at this size with the best schedule of each other size; null if that schedule is not legal here.
   */
  readonly others: readonly { readonly size: number; readonly cycles: number | null }[];
}

/** Result of {@link tuneSizes}: the best schedules of one program at several sizes of the dynamic symbol. */
export interface SizesResult {
  readonly name: string;
  readonly target: Target;
  readonly symbol: Sym;
  /** Program with the symbol unbound, and with the schedule entries that the user fixed. */
  readonly gather: AccessFunc;
  readonly sizes: readonly SizeResult[];
  /** Schedules by range of sizes, from 1 to the symbol's upper bound. Size 0 uses the first. */
  readonly pieces: readonly Piece[];
  /**
   * The one schedule with the least worst ratio to the best of each size, and the geometric mean of the
   * ratios.
   */
  readonly single: { readonly schedule: ResolvedSchedule; readonly worst: number; readonly mean: number };
}

const sizesFields: Fields<SizesOptions> = {
  ...compileFields,
  sizes: {
    code: "TC702",
    takes: "a list of sizes, 1 or more each, by the name of the symbol",
    holds: (value) => isObject(value) && Object.values(value).every(isSizes),
  },
  pieces: integer(1),
  budget: tuneFields.budget,
  seed: tuneFields.seed,
  signal: tuneFields.signal,
  onProgress: tuneFields.onProgress,
};

const isSizes = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((size) => Number.isSafeInteger(size) && size >= 1);

/** Schedules of each run of sizes that a table may take, and sizes between neighbours that are costed. */
const [kept, between] = [4, 4] as const;

/**
 * Searches the schedules of a program at several sizes of the one symbol left unbound by `bind`. Resolves to
 * the best schedule at each size, the best single schedule for all sizes, and one schedule for each range of
 * sizes.
 *
 * Rejects with a CompileError if the number of unbound symbols is not 1 (TC702), or if a size is invalid
 * (TC107). Rejects with TC402 if no tile is legal at a size, or if no schedule found is legal at every size
 * up to the symbol's upper bound. If `signal` aborts, rejects with the reason of the abort, without a partial
 * result.
 */
export async function tuneSizes(program: Func, options: SizesOptions): Promise<SizesResult> {
  throwIfErrors([
    ...checkProgram(program),
    ...checkOptions("tuneSizes", options, sizesFields, { needs: ["sizes"] }),
  ]);
  const {
    sizes: given,
    pieces: maxPieces = defaultPieces,
    budget,
    seed,
    signal,
    onProgress,
    bind = {},
    ...compiling
  } = options;
  const rest = bindSome(program, bind);
  if (!rest.ok) throw new CompileError(rest.diagnostics);
  const { gather, symbol } = opened(rest.func, given, compiling);
  const target = resolveTargetOf(program, compiling);
  const { passes } = compiling;
  const costing = { target, ...defined({ passes }) };
  const sizes = [...new Set(given[symbol.name])].sort((a, b) => a - b);
  const programs = new Map<number, AccessFunc>();
  const programAt = (size: number): AccessFunc => {
    const bound = programs.get(size) ?? boundAt(gather, symbol, size);
    programs.set(size, bound);
    return bound;
  };
  const results: TuneResult[] = [];
  for (const size of sizes) {
    const result = await tune(programAt(size), {
      target,
      ...defined({ budget, seed, signal, passes }),
      onProgress: (done, total) =>
        onProgress?.(results.length * total + done, sizes.length * total, `${symbol.name}=${size}`),
    });
    signal?.throwIfAborted();
    results.push(result);
  }
  const costs = new Costs(programAt, costing);
  const ends = [...new Set([1, ...sizes, symbol.most])].sort((a, b) => a - b);
  const distinct = distinctSchedules(results, gather);
  const candidates = nearSome(choiceOf(costs.of(distinct, ends), ends, ends), kept).map((c) =>
    at(distinct, c),
  );
  const points = pointsOf(ends);
  const ranges = piecesOf(choiceOf(costs.of(candidates, points), points, sizes), maxPieces);
  const atRequested = costs.of(candidates, sizes);
  const chosen = choiceOf(atRequested, sizes, sizes);
  const winners = sizes.map((_, k) => winnerAt(atRequested, k));
  const single = nearestOf(chosen)(0, sizes.length - 1);
  if (ranges === undefined || single === undefined) {
    const message = `no schedule that was found for ${symbol.name}=${sizes.join(",")} is legal at each size to ${symbol.most}`;
    const hint = `add the largest size: --sizes ${symbol.name}=${symbol.most}`;
    throw new CompileError([error("TC402", message, { span: program.span, hint })]);
  }
  const pieces = ranges.map(({ from, to, candidate }): Piece => ({
    from: from === 0 ? 1 : at(points, from - 1) + 1,
    to: at(points, to),
    schedule: at(candidates, candidate),
  }));
  return {
    name: program.name,
    target,
    symbol,
    gather,
    sizes: sizes.map((size, k) => {
      const piece = pieceAt(pieces, size);
      return {
        size,
        best: { cycles: at(chosen.least, k), schedule: at(candidates, at(winners, k)) },
        table: {
          cycles: piece === undefined ? Infinity : cyclesInPiece(gather, symbol, piece, size, costing),
        },
        single: { cycles: atRequested[single.candidate]?.[k] ?? Infinity },
        others: sizes.flatMap((other, j) =>
          j === k ? [] : [{ size: other, cycles: atRequested[at(winners, j)]?.[k] ?? null }],
        ),
      };
    }),
    pieces,
    single: {
      schedule: at(candidates, single.candidate),
      worst: single.requested,
      mean: Math.exp(single.logs / sizes.length),
    },
  };
}

/**
 * Returns the gather and the unbound symbol of a program. Throws a CompileError if the program does not have
 * exactly one unbound symbol (TC702), or if `sizes` names another symbol (TC107).
 */
function opened(
  program: Func,
  sizes: SizesOptions["sizes"],
  options: CompileOptions,
): { readonly gather: AccessFunc; readonly symbol: Sym } {
  const gather = accessOf(program, options);
  const symbols = gather === undefined ? [] : dynamicSymbols(gather);
  const names = symbols.map(({ name }) => name);
  const [symbol, ...others] = symbols;
  const { span } = program;
  if (gather === undefined || symbol === undefined || others.length > 0) {
    const maxSizes = Object.fromEntries(others.map((other) => [other.name, other.most]));
    const hint =
      symbols.length === 0
        ? "declare one: dim N <= 4096"
        : `bind all but one: --bind ${formatSizes(maxSizes)}`;
    const unboundNames = symbols.length === 0 ? "none" : names.join(", ");
    const message = `sizes needs a program with one unbound symbol, and @${program.name} has ${unboundNames}`;
    throw new CompileError([error("TC702", message, { span, hint })]);
  }
  const [given, ...further] = Object.keys(sizes);
  if (given !== symbol.name || further.length > 0) {
    const message = `sizes names ${Object.keys(sizes).join(", ")}, and the symbol of @${program.name} is ${symbol.name}`;
    throw new CompileError([error("TC107", message, { span, hint: `give sizes of ${symbol.name}` })]);
  }
  return { gather, symbol };
}

function boundAt(gather: AccessFunc, symbol: Sym, size: number): AccessFunc {
  const bound = bindSizes(gather, { [symbol.name]: size });
  if (!bound.ok) throw new CompileError(bound.diagnostics);
  return bound.func as AccessFunc;
}

/** Returns the schedules that searches costed, without duplicates, as schedules of all sizes of `gather`. */
function distinctSchedules(results: readonly TuneResult[], gather: AccessFunc): readonly ResolvedSchedule[] {
  const full = outputOf(gather).type.shape;
  const schedules = results.flatMap(({ candidates, gather: program }) =>
    candidates.map(({ schedule, given = schedule }) =>
      atEverySize(given, outputOf(program).type.shape, full),
    ),
  );
  return [...new Map(schedules.map((schedule) => [JSON.stringify(schedule), schedule])).values()];
}

/** Returns a schedule of one size for all: what of its view is whole there is whole at every size. */
const atEverySize = (schedule: ResolvedSchedule, extents: Shape, full: Shape): ResolvedSchedule => ({
  ...schedule,
  view: schedule.view.map((entry, d) => (entry >= at(extents, d) ? at(full, d) : entry)),
});

/** Target and passes that schedules are costed by. */
type Costing = Parameters<typeof cyclesUnder>[2];

/** Cycles of schedules at sizes, each costed once. */
class Costs {
  private readonly cached = new Map<string, number | null>();

  constructor(
    private readonly programAt: (size: number) => AccessFunc,
    private readonly options: Costing,
  ) {}

  of(schedules: readonly ResolvedSchedule[], sizes: readonly number[]): Cycles {
    return schedules.map((schedule) => {
      const text = JSON.stringify(schedule);
      return sizes.map((size) => {
        const key = `${size} ${text}`;
        const cached = this.cached.get(key);
        if (cached !== undefined) return cached;
        const cycles = cyclesUnder(this.programAt(size), schedule, this.options);
        this.cached.set(key, cycles);
        return cycles;
      });
    });
  }
}

/** Returns the first candidate with the fewest cycles at a size. */
const winnerAt = (cycles: Cycles, k: number): number =>
  cycles.reduce(
    (least, costs, c) => ((costs[k] ?? Infinity) < (cycles[least]?.[k] ?? Infinity) ? c : least),
    0,
  );

const choiceOf = (cycles: Cycles, sizes: readonly number[], requested: readonly number[]): Choice => ({
  cycles,
  least: sizes.map((_, k) => cycles[winnerAt(cycles, k)]?.[k] ?? Infinity),
  isRequested: sizes.map((size) => requested.includes(size)),
});

/**
 * Returns the estimated cycles at `size` with the schedule of a size range. The kernel is compiled with the
 * end of the range, `to`, as the largest size, and then bound to `size`.
 */
function cyclesInPiece(
  gather: AccessFunc,
  { name }: Sym,
  { schedule, to }: Piece,
  size: number,
  costing: Costing,
): number {
  const kernel = compile(withMaxSizes(gather, { [name]: to }), { ...schedule, ...costing });
  return cyclesOf(kernel.bind({ [name]: size }).tile, costing.target).cycles;
}

/**
 * Returns the sizes in `ends` with four more sizes inserted between neighbours, evenly spaced by ratio and
 * rounded to integers. The list is ascending, without repetitions.
 */
function pointsOf(ends: readonly number[]): readonly number[] {
  const points = ends.flatMap((size, k) => {
    const next = ends[k + 1] ?? size;
    return Array.from({ length: between + 1 }, (_, j) =>
      Math.round(size * (next / size) ** (j / (between + 1))),
    );
  });
  return [...new Set(points)].sort((a, b) => a - b);
}
