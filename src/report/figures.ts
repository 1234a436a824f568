/** The figures of a schedule: the one table from which reports, CSV and rows take their columns. */
import {
  formatEntry,
  formatRatio,
  formatShape,
  inPercent,
  type Roofline,
  type Schedule,
  type SearchedEntry,
  type Shape,
} from "../../ir/index.js";

/** Entries of a schedule that a search chooses. */
type Entries = Required<Pick<Schedule, SearchedEntry>>;

/**
 * Estimated or measured values of one schedule, for example cycles and bytes, for a row of a report. Unknown
 * values are absent.
 */
export interface ScheduleFigures extends Partial<Roofline> {
  readonly schedule?: Partial<Entries>;
  readonly cycles?: number;
  /** Bytes that move between global memory and the cores. */
  readonly bytes?: number;
  /** Bytes of unified buffer. */
  readonly ubBytes?: number;
  readonly tasks?: number;
  /** Cores without work during the last tasks. */
  readonly idleCores?: number;
  readonly ms?: number;
  /** Bytes of unified buffer that there are. */
  readonly ubBudget?: number;
  /** Bytes that any schedule moves. */
  readonly compulsory?: number;
  /** Rows and bytes that certain indices move. */
  readonly moved?: {
    /** Rows that are read, each time that an index names one. */
    readonly picks?: number;
    readonly distinct?: number;
    readonly bytes: number;
    readonly bursts: number;
  };
  /** Cost of the schedule that the compiler chooses without a search, in what a search made small. */
  readonly ofDefault?: number;
  /** The default's figure over this schedule's. */
  readonly gain?: number;
  /** Schedules that were costed. */
  readonly costed?: number;
  readonly backends?: string;
  readonly seed?: number;
  /** Hash of the output's bits. */
  readonly bits?: string;
}

type Cell = string | number;

interface Figure {
  /** Header in reports. */
  readonly label: string;
  readonly unit?: string;
  /** Value in CSV and rows, in the unit. */
  readonly cell: (figures: ScheduleFigures) => Cell | undefined;
  /** Value in reports; absent where it is the same. */
  readonly shown?: (figures: ScheduleFigures) => Cell | undefined;
}

/** Extents as flags take them, without commas. */
const joined = (shape: Shape): string => shape.join("x");

const applied = <T>(value: T | undefined, format: (value: T) => Cell): Cell | undefined =>
  value === undefined ? undefined : format(value);

const entry = <K extends SearchedEntry>(key: K, cell: (value: Entries[K]) => Cell, shown = cell): Figure => ({
  label: key,
  cell: ({ schedule }) => applied<Entries[K]>(schedule?.[key], cell),
  shown: ({ schedule }) => applied<Entries[K]>(schedule?.[key], shown),
});

const entryFigures = {
  residency: entry("residency", formatEntry),
  tile: entry("tile", joined, formatShape),
  view: entry("view", joined, formatShape),
  order: entry("order", joined, formatShape),
  buffers: entry("buffers", (buffers) => JSON.stringify(buffers), formatEntry),
} satisfies Readonly<Record<SearchedEntry, Figure>>;

/**
 * Columns for lists of schedules, by key: label, unit and value of each column. The keys are also CSV headers
 * and JSON keys.
 */
export const figures = {
  ...entryFigures,
  cycles: { label: "cycles", unit: "cycles", cell: (f) => f.cycles },
  floor: { label: "lower bound", unit: "cycles", cell: (f) => f.floor?.cycles },
  floor_limit: { label: "bound by", cell: (f) => f.floor?.limit },
  over_floor: {
    label: "times bound",
    cell: (f) => f.floor?.ratio,
    shown: (f) => applied(f.floor?.ratio, formatRatio),
  },
  us: { label: "us", unit: "us", cell: (f) => f.microseconds },
  gb_per_s: { label: "GB/s", unit: "GB/s", cell: (f) => f.gigabytesPerSecond },
  busiest: { label: "busiest", cell: (f) => f.bottleneck?.pipe },
  busy_share: {
    label: "busy share",
    cell: (f) => f.bottleneck?.share,
    shown: (f) => applied(f.bottleneck?.share, inPercent),
  },
  clock: { label: "clock", cell: (f) => f.clock },
  bytes: { label: "bytes", unit: "B", cell: (f) => f.bytes },
  ub_bytes: { label: "UB bytes", unit: "B", cell: (f) => f.ubBytes },
  tasks: { label: "tasks", cell: (f) => f.tasks },
  idle_cores: { label: "idle in last round", cell: (f) => f.idleCores },
  ms: { label: "ms", unit: "ms", cell: (f) => f.ms },
  ub_budget: { label: "UB budget", unit: "B", cell: (f) => f.ubBudget },
  compulsory: { label: "compulsory", unit: "B", cell: (f) => f.compulsory },
  default_cost: { label: "default", cell: (f) => f.ofDefault },
  gain: { label: "gain", cell: (f) => f.gain, shown: (f) => applied(f.gain, formatRatio) },
  costed: { label: "costed", cell: (f) => f.costed },
  picks: { label: "picks", cell: (f) => f.moved?.picks },
  distinct_rows: { label: "distinct rows", cell: (f) => f.moved?.distinct },
  moved_bytes: { label: "moved", unit: "B", cell: (f) => f.moved?.bytes },
  moved_bursts: { label: "bursts", cell: (f) => f.moved?.bursts },
  backends: { label: "backends", cell: (f) => f.backends },
  seed: { label: "seed", cell: (f) => f.seed },
  bits: { label: "bits", cell: (f) => f.bits },
} as const satisfies Readonly<Record<string, Figure>>;

/** Key of a column in lists of schedules, for example `cycles` or `ub_bytes`. */
export type FigureKey = keyof typeof figures;

const figureAt = (key: FigureKey): Figure => figures[key];

/** Returns the given column keys in the order of {@link figures}, without duplicates. */
export const inTableOrder = (keys: readonly FigureKey[]): readonly FigureKey[] => {
  const requested = new Set(keys);
  return (Object.keys(figures) as FigureKey[]).filter((key) => requested.has(key));
};

/**
 * Keys of the report columns that show the schedule entries chosen by a search, for example `tile` and
 * `buffers`.
 */
export const entryKeys = Object.keys(entryFigures) as readonly (keyof typeof entryFigures)[];

/**
 * Keys of the first columns in lists of tiles: tile, other schedule entries, and cost in bytes, tasks and
 * cycles.
 */
export const tileKeys = [
  "tile",
  "residency",
  "view",
  "order",
  "buffers",
  "ub_bytes",
  "bytes",
  "tasks",
  "cycles",
] as const satisfies readonly FigureKey[];

/**
 * Keys of the report columns that follow a schedule's cycles: lower bound, time, bandwidth and busiest
 * hardware pipe (instruction queue).
 */
export const boundKeys = [
  "floor",
  "floor_limit",
  "over_floor",
  "us",
  "gb_per_s",
  "busiest",
  "busy_share",
] as const satisfies readonly FigureKey[];

/** Keys of the columns for a schedule's cost: cycles, lower bound, cost model version, bytes and tasks. */
export const costKeys = [
  "cycles",
  ...boundKeys,
  "clock",
  "bytes",
  "ub_bytes",
  "tasks",
] as const satisfies readonly FigureKey[];

/**
 * Returns the values of a schedule for CSV cells or JSON rows, by column key. Unknown values are left out.
 */
export const figureCells = (
  keys: readonly FigureKey[],
  of: ScheduleFigures,
): Readonly<Partial<Record<FigureKey, Cell>>> =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const cell = figureAt(key).cell(of);
      return cell === undefined ? [] : [[key, cell] as const];
    }),
  );

/** Returns the column headers of a report for the given keys. */
export const figureLabels = (keys: readonly FigureKey[]): readonly string[] =>
  keys.map((key) => figureAt(key).label);

/**
 * Returns the cells of one row of a report, for the given column keys. An unknown value gives an empty cell.
 */
export const figureTexts = (keys: readonly FigureKey[], of: ScheduleFigures): readonly Cell[] =>
  keys.map((key) => {
    const { cell, shown = cell } = figureAt(key);
    return shown(of) ?? "";
  });
