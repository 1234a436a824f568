/** Measurements beside what the clock says of them. */
import {
  defined,
  CompileError,
  error,
  favourable,
  kernelPrice,
  targets,
  type PriceLimit,
  type Target,
} from "../../ir/index.js";
import { workOfMeasurement, type BoardMeasurement } from "./measurement.js";

/**
 * Role of a measurement in a validation. `fit`: used to fit a hardware parameter. `held out`: used only to
 * test the cost model. `outside`: outside the cost model.
 */
export type RowRole = "fit" | "held out" | "outside";

/**
 * Comparison of one measurement with the cost model: measured value, predicted value and ratio. The values
 * are in cycles or microseconds, as `quantity` says.
 */
export interface RowVerdict {
  readonly id: string;
  readonly machine: string;
  readonly quantity: BoardMeasurement["quantity"];
  readonly measured: number;
  readonly predicted: number;
  /** `predicted / measured` */
  readonly ratio: number;
  readonly limit: PriceLimit;
  readonly role: RowRole;
}

/**
 * Summary of the measurements of one machine: their number inside and outside the cost model, the mean factor
 * between predicted and measured values, and the worst ratio.
 */
export interface MachineSummary {
  readonly machine: string;
  /** Number of measurements that the cost model covers. */
  readonly rows: number;
  /** Mean factor between predicted and measured values, `exp(mean |ln ratio|)`, of these measurements. */
  readonly mean: number;
  /** Measurement covered by the cost model whose ratio is farthest from 1; absent if there is none. */
  readonly worst?: { readonly id: string; readonly ratio: number };
  /** Rows outside the model. */
  readonly outside: number;
}

/**
 * Conditions under which a measurement is outside the cost model. `reason` is a phrase for messages; `holds`
 * returns true if the condition applies to a measurement.
 */
export const outsideReasons: readonly {
  readonly reason: string;
  readonly holds: (row: BoardMeasurement) => boolean;
}[] = [
  {
    reason: "bursts of 128 B or less whose reads bypass L2",
    holds: (row) => row.memory?.readsBypassL2 === true && hasShortLoads(row),
  },
  {
    reason: "bursts of 128 B or less to L1",
    holds: (row) => hasShortLoads(row) && loadsOf(row).some(({ to }) => to === "L1"),
  },
  {
    reason: "all cores read one slab in the same order",
    holds: (row) => row.memory?.sameOrderOnAllCores === true,
  },
];

const loadsOf = ({ steps }: BoardMeasurement) =>
  steps.flatMap((step) => ("pipe" in step && step.pipe === "MTE2" ? [step] : []));

const hasShortLoads = (row: BoardMeasurement): boolean =>
  loadsOf(row).some(({ bytesPerBurst }) => bytesPerBurst <= 128);

/**
 * Returns the reason why a measurement is outside the cost model; undefined if the measurement is within the
 * model.
 */
export const outsideBecause = (row: BoardMeasurement): string | undefined =>
  outsideReasons.find(({ holds }) => holds(row))?.reason;

/**
 * Returns the value that the cost model predicts for a measurement, and the resource that limits the value.
 * The value is in cycles or microseconds, as `row.quantity` says.
 */
export function predictionOf(
  row: BoardMeasurement,
  figures: Target,
  work = workOfMeasurement(row),
): { readonly predicted: number; readonly limit: PriceLimit } {
  const { cycles, launchMicroseconds, limit } = kernelPrice(work, figures);
  const launchCycles = launchMicroseconds * row.clockMHz;
  const all = cycles + launchCycles;
  return {
    predicted: row.quantity === "cycles" ? all : all / row.clockMHz,
    limit: launchCycles > cycles ? "launch" : limit,
  };
}

/**
 * Returns the smallest value that the cost model predicts for a measurement: each hardware parameter is at
 * the more favourable end of its range. The unit is the unit of the measurement.
 */
export const boundOf = (row: BoardMeasurement, target: Target): number =>
  predictionOf(row, favourable(target)).predicted;

/** Returns the ids of the measurements to which hardware parameters of the target are fitted. */
const fitRows = (target: Target): ReadonlySet<string> =>
  new Set(Object.values(target.sources).flatMap(({ rows = [] }) => rows));

/**
 * Compares one measurement with the cost model: returns the measured value, the predicted value, the ratio
 * and the role. `fitted` has the ids of the measurements used for the fit.
 */
export function verdictOf(row: BoardMeasurement, target: Target, fitted = fitRows(target)): RowVerdict {
  const { id, machine, quantity, measured } = row;
  const { predicted, limit } = predictionOf(row, target);
  const role = outsideBecause(row) !== undefined ? "outside" : fitted.has(id) ? "fit" : "held out";
  return { id, machine, quantity, measured, predicted, ratio: predicted / measured, limit, role };
}

/**
 * Compares each measurement of a file with the cost model, and returns the comparisons in order. Throws a
 * CompileError (TC019) with the ids of the measurements whose predicted time is not above 0.
 */
export function verdictsOf(
  rows: readonly BoardMeasurement[],
  target: Target,
  file: string,
): readonly RowVerdict[] {
  const verdicts = rows.map((row) => verdictOf(row, target));
  const wrong = verdicts.filter(({ ratio }) => !(ratio > 0 && ratio < Infinity));
  if (wrong.length > 0)
    throw new CompileError(
      wrong.map(({ id, predicted, quantity }) =>
        error(
          "TC019",
          `${file}: row ${id}: the cost model of ${target.name} predicts ${predicted} ${quantity}, and the ratio needs a time above 0`,
          { hint: "state what each core did: steps with counts above 0, or bytes of memory" },
        ),
      ),
    );
  return verdicts;
}

const farness = ({ ratio }: { readonly ratio: number }): number => Math.abs(Math.log(ratio));

/**
 * Returns the mean factor between predicted and measured values, `exp(mean |ln ratio|)`; 1 for an empty list.
 */
export const meanFactor = (verdicts: readonly Pick<RowVerdict, "ratio">[]): number =>
  verdicts.length === 0
    ? 1
    : Math.exp(verdicts.reduce((sum, one) => sum + farness(one), 0) / verdicts.length);

/** Returns one summary for each machine, in the order in which the machines first occur in `verdicts`. */
export function summaryOf(verdicts: readonly RowVerdict[]): readonly MachineSummary[] {
  return [...new Set(verdicts.map(({ machine }) => machine))].map((machine) => {
    const ofMachine = verdicts.filter((verdict) => verdict.machine === machine);
    const inside = ofMachine.filter(({ role }) => role !== "outside");
    const [worst] = [...inside].sort((a, b) => farness(b) - farness(a));
    return {
      machine,
      rows: inside.length,
      mean: meanFactor(inside),
      ...defined({ worst: worst && { id: worst.id, ratio: worst.ratio } }),
      outside: ofMachine.length - inside.length,
    };
  });
}

/**
 * Returns the name of the machine whose measurements validate a target. Ascend targets with ISA a5 map to
 * `ascend-950`, and any other Ascend target to `ascend-a2`. Targets of another kind map to the target's name.
 */
export const machineOf = ({ name, kind, isa }: Target): string =>
  kind === "ascend" ? (isa === "a5" ? targets.ascend950.name : targets.ascendA2.name) : name;
