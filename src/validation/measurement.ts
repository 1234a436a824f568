/** Measurements of boards: quantities that others published, each with the instruction stream that ran. */
import {
  defined,
  CompileError,
  error,
  noWork,
  type KernelWork,
  type PipeWork,
  type Stretch,
} from "../../ir/index.js";
import {
  choice,
  filledText,
  isObject,
  listOf,
  oneOf,
  problemsOf,
  record,
  yesOrNo,
  type Field,
  type Fields,
} from "../../backends/index.js";
import { didYouMean } from "../../ir/did-you-mean.js";
import { messageOf } from "../../ir/faults.js";

const quantities = ["us", "aiv_us", "aic_us", "mte2_us", "vec_us", "scalar_us", "mte3_us", "cycles"] as const;

/**
 * Step of a measured instruction stream: equal instructions on one hardware pipe (instruction queue) of a
 * core, or a wait for all earlier instructions.
 */
export type MeasuredStep =
  | { readonly wait: true }
  | {
      readonly pipe: "MTE2" | "MTE3";
      readonly count: number;
      readonly bursts: number;
      readonly bytesPerBurst: number;
      /** Memory to which the step loads, if stated: `L1` is a buffer of a cube core. */
      readonly to?: string;
    }
  | {
      readonly pipe: "V";
      readonly count: number;
      readonly repeats: number;
      readonly bankConflict?: boolean;
    }
  | { readonly pipe: "S" | "VF"; readonly count: number }
  | {
      readonly pipe: "SIMT";
      readonly elements: number;
      readonly linesPerWarpAccess: readonly number[];
      readonly tableBytes?: number;
    };

/**
 * Global-memory traffic of a measured kernel, summed over all cores. `operands` has the distinct bytes of
 * each operand and the number of times that the bytes are read. `written` is the number of bytes written.
 */
export interface MeasuredMemory {
  readonly operands: readonly { readonly bytes: number; readonly times: number }[];
  readonly written: number;
  readonly readsBypassL2?: boolean;
  /** Bytes from the start of one row to the start of the next; present only if rows start unaligned. */
  readonly rowPitchBytes?: number;
  readonly sameOrderOnAllCores?: boolean;
}

/**
 * Published measurement of one kernel: the measured value, the source, and the instruction stream that each
 * core executes `repeat` times.
 */
export interface BoardMeasurement {
  readonly id: string;
  /** Name of the target that the measurement validates. */
  readonly machine: string;
  readonly what?: string;
  readonly source: string;
  readonly cores: number;
  readonly clockMHz: number;
  readonly quantity: (typeof quantities)[number];
  readonly measured: number;
  readonly repeat: number;
  readonly steps: readonly MeasuredStep[];
  readonly memory?: MeasuredMemory;
  readonly launch?: { readonly blocks: number };
  readonly cold?: boolean;
  readonly note?: string;
}

const code = "TC019";

const words = filledText(code);
/** Beyond it a product of a row's numbers may be no number. */
const max = 2 ** 53;
const count: Field = {
  code,
  takes: "a number from 0 to 2^53",
  holds: (value) => typeof value === "number" && value >= 0 && value <= max,
};
const positive: Field = {
  code,
  takes: "a number above 0, from 2^-53 to 2^53",
  holds: (value) => typeof value === "number" && value >= 1 / max && value <= max,
};
const flag = yesOrNo(code);
const counts = listOf("a list of numbers", count, code);

/** Fields that the clock does not know are taken, as notes are. */
const fieldsOf = (takes: string, fields: Readonly<Record<string, Field>>, needs: readonly string[]): Field =>
  record(takes, fields, { code, allowsOthers: true, needs });

const transfer = fieldsOf(
  "a transfer, such as { pipe: MTE2, count, bursts, bytesPerBurst }",
  { count, bursts: count, bytesPerBurst: count, to: words },
  ["count", "bursts", "bytesPerBurst"],
);
const counted = fieldsOf("instructions, such as { pipe: S, count }", { count }, ["count"]);

const stepFields: Readonly<Record<Exclude<MeasuredStep, { wait: true }>["pipe"], Field>> = {
  MTE2: transfer,
  MTE3: transfer,
  V: fieldsOf(
    "vector instructions, such as { pipe: V, count, repeats }",
    { count, repeats: count, bankConflict: flag },
    ["count", "repeats"],
  ),
  S: counted,
  VF: counted,
  SIMT: fieldsOf(
    "elements of SIMT threads, such as { pipe: SIMT, elements, linesPerWarpAccess }",
    { elements: count, linesPerWarpAccess: counts, tableBytes: count },
    ["elements", "linesPerWarpAccess"],
  ),
};

const pipeWords = Object.keys(stepFields) as readonly (keyof typeof stepFields)[];
const anyStep = fieldsOf("a step", { pipe: oneOf(pipeWords, code) }, ["pipe"]);
const aWait = record(
  "a wait, which is a step by itself",
  { wait: { code, takes: "true", holds: (value: unknown) => value === true }, note: words },
  { code },
);
const step = choice(
  "a step",
  (value) => {
    if (!isObject(value)) return anyStep;
    if ("wait" in value) return aWait;
    const pipe = pipeWords.find((word) => word === value.pipe);
    return pipe === undefined ? anyStep : stepFields[pipe];
  },
  code,
);

const measurementFields: Fields<BoardMeasurement> = {
  id: words,
  machine: words,
  what: words,
  source: words,
  cores: positive,
  clockMHz: positive,
  quantity: oneOf(quantities, code),
  measured: positive,
  repeat: positive,
  steps: listOf("a list of steps", step, code),
  memory: fieldsOf(
    "bytes of all cores, such as { operands: [{ bytes, times }], written }",
    {
      operands: listOf(
        "a list of operands",
        fieldsOf("an operand, such as { bytes, times }", { bytes: count, times: count }, ["bytes", "times"]),
        code,
      ),
      written: count,
      readsBypassL2: flag,
      rowPitchBytes: positive,
      sameOrderOnAllCores: flag,
    },
    ["operands", "written"],
  ),
  launch: fieldsOf("a launch, such as { blocks: 64 }", { blocks: count }, ["blocks"]),
  cold: flag,
  note: words,
};

const file = listOf(
  "a list of measurements",
  fieldsOf("a measurement", measurementFields, [
    "id",
    "machine",
    "source",
    "cores",
    "clockMHz",
    "quantity",
    "measured",
    "repeat",
    "steps",
  ]),
  code,
);

/**
 * Parses a JSON file of measurements and returns the measurements in file order. Throws a CompileError
 * (TC019) if the content is not JSON, a field is invalid, or two measurements have the same id.
 */
export function parseMeasurements(content: string, name: string): readonly BoardMeasurement[] {
  const hint = "the form is that of validation/measurements.json (docs/validation.md)";
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (thrown) {
    const reason = messageOf(thrown);
    throw new CompileError([error(code, `${name}: not JSON: ${reason}`, { hint })]);
  }
  const problems = problemsOf(file, value, "rows", didYouMean);
  if (problems.length > 0)
    throw new CompileError(
      problems.map((problem) => ({ hint, ...problem, message: `${name}: ${problem.message}` })),
    );
  const rows = value as readonly BoardMeasurement[];
  const ids = new Set<string>();
  for (const { id } of rows) {
    if (ids.has(id)) throw new CompileError([error(code, `${name}: two rows have the id ${id}`, { hint })]);
    ids.add(id);
  }
  return rows;
}

/**
 * Converts a measurement to the input of the cost model: work of each hardware pipe (instruction queue),
 * memory traffic and number of launched blocks. Memory traffic and blocks are absent if unknown.
 */
export function workOfMeasurement({
  cores,
  repeat,
  steps,
  memory,
  launch,
  cold,
}: BoardMeasurement): KernelWork {
  const stretches: Stretch[] = [];
  let runs: PipeWork[] = [];
  for (const step of steps) {
    if ("wait" in step) {
      stretches.push({ runs, waits: true });
      runs = [];
    } else runs.push(...runsOf(step));
  }
  if (runs.length > 0) stretches.push({ runs, waits: false });
  return {
    cores,
    repeat,
    stretches,
    cold: cold === true,
    ...defined({ blocks: launch?.blocks }),
    ...defined({ memory: memory && memoryOf(memory, steps) }),
  };
}

/**
 * Converts the global-memory traffic of a measurement to the `memory` input of the cost model. The field
 * `unaligned` is present only if the row pitch and the bytes per burst of the first load are given.
 */
function memoryOf(memory: MeasuredMemory, steps: readonly MeasuredStep[]): NonNullable<KernelWork["memory"]> {
  const { operands, written, readsBypassL2 = false, rowPitchBytes } = memory;
  const load = steps.find((step) => "pipe" in step && step.pipe === "MTE2");
  const bytesPerBurst = load !== undefined && "bytesPerBurst" in load ? load.bytesPerBurst : 0;
  return {
    operands,
    written,
    readsBypassL2,
    ...(rowPitchBytes === undefined || bytesPerBurst === 0
      ? {}
      : { unaligned: { pitchBytes: rowPitchBytes, bytesPerBurst } }),
  };
}

/**
 * Returns the work ({@link PipeWork}) that one measured step causes on its hardware pipe. A SIMT step causes
 * one item of work for each number in `linesPerWarpAccess`; any other step causes a single item.
 */
function runsOf(step: Exclude<MeasuredStep, { wait: true }>): readonly PipeWork[] {
  switch (step.pipe) {
    case "MTE2":
    case "MTE3": {
      const bursts = step.count * step.bursts;
      const work = { ...noWork, instructions: step.count, bursts, padded: bursts * step.bytesPerBurst };
      return [{ pipe: step.pipe, work }];
    }
    case "V": {
      const repeats = step.count * step.repeats;
      const read = step.bankConflict === true ? { conflictRepeats: repeats } : { stepRepeats: repeats };
      return [{ pipe: "V", work: { ...noWork, steps: step.count, ...read } }];
    }
    case "S":
      return [{ pipe: "S", work: { ...noWork, scalars: step.count } }];
    case "VF":
      return [{ pipe: "SIMT", work: { ...noWork, calls: step.count } }];
    case "SIMT": {
      const warpAccesses = step.elements / 32;
      return step.linesPerWarpAccess.map((lines) => ({
        pipe: "SIMT",
        work: { ...noWork, warpAccesses, warpLines: warpAccesses * lines },
      }));
    }
  }
}
