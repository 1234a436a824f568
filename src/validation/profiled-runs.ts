/** Runs of kernels as msprof lists them in `op_summary_*.csv`: one line for each launch, columns by name. */
import { CompileError, defined, error } from "../../ir/index.js";

/**
 * Column names in a profile file of msprof, for each quantity that tilec reads. Some quantities have several
 * names, depending on the version of msprof.
 */
const profileColumns = {
  name: ["Op Name"],
  blocks: ["Block Dim", "Block Num"],
  task: ["Task Duration(us)"],
  cores: ["aiv_time(us)"],
  MTE2: ["aiv_mte2_time(us)"],
  V: ["aiv_vec_time(us)"],
  S: ["aiv_scalar_time(us)"],
  MTE3: ["aiv_mte3_time(us)"],
} as const;

/**
 * Kind of time in a profile file of msprof. `task` is the time of a launch, and `cores` the mean over the
 * cores. Any other name is the mean busy time of a hardware pipe (instruction queue).
 */
export type ProfiledTime = Exclude<keyof typeof profileColumns, "name" | "blocks">;

const times = Object.keys(profileColumns).filter(
  (column): column is ProfiledTime => column !== "name" && column !== "blocks",
);

/**
 * Summary of all profiled launches of one kernel: the number of launches, and the median of each {@link
 * ProfiledTime} in microseconds.
 */
export interface ProfiledKernel {
  readonly name: string;
  readonly launches: number;
  /** Number of blocks of a launch; absent if the file has no column for it. */
  readonly blocks?: number;
  /**
   * Median of the launches for each kind of time, in microseconds. A kind without a time above 0 in the file
   * is absent.
   */
  readonly microseconds: Readonly<Partial<Record<ProfiledTime, number>>>;
}

const hint =
  "give op_summary_*.csv as msprof wrote it: columns Op Name, Block Dim, Task Duration(us), aiv_time(us)";

const malformed = (message: string): CompileError => new CompileError([error("TC019", message, { hint })]);

/**
 * Splits a CSV text (RFC 4180) into the fields of each line and leaves out blank lines. Throws a CompileError
 * (TC019) if a quoted field is not closed.
 */
function fieldsOf(text: string, file: string): readonly (readonly string[])[] {
  const lines: string[][] = [];
  let [field, quoted, started]: [string, boolean, boolean] = ["", false, false];
  let line: string[] = [];
  const endField = (): void => {
    line.push(field.trim());
    [field, started] = ["", false];
  };
  for (let k = 0; k < text.length; k++) {
    const letter = text[k] ?? "";
    if (quoted) {
      if (letter !== '"') field += letter;
      else if (text[k + 1] === '"') field += text[++k] ?? "";
      else quoted = false;
    } else if (letter === '"' && !started) quoted = true;
    else if (letter === ",") endField();
    else if (letter === "\n") {
      endField();
      lines.push(line);
      line = [];
    } else {
      field += letter;
      started ||= letter.trim() !== "";
    }
  }
  if (quoted) throw malformed(`${file}: a quote does not end`);
  if (field !== "" || line.length > 0) {
    endField();
    lines.push(line);
  }
  return lines.filter((cells) => cells.some((entry) => entry !== ""));
}

/** Cells that msprof leaves without a value. */
const isEmpty = (cell: string): boolean => cell === "" || cell === "N/A";

/** A number as msprof writes it. */
const decimal = /^\d+(\.\d*)?(e[+-]?\d+)?$/i;
/** Beyond it a product of times and rates may be no number. */
const max = 2 ** 53;

/**
 * Parses a CSV profile file of msprof and returns one summary for each kernel, in file order. Throws a
 * CompileError (TC019) if the file is empty, lacks a required column, has an invalid line, or states two
 * block counts for one kernel.
 */
export function parseProfile(text: string, file: string): readonly ProfiledKernel[] {
  const [head, ...lines] = fieldsOf(text.replace(/^\uFEFF/, ""), file);
  if (head === undefined) throw malformed(`${file} is empty`);
  const placeOf = (column: keyof typeof profileColumns): number => {
    const addresses = [...head.keys()].filter((k) =>
      profileColumns[column].some((entry) => entry === head[k]),
    );
    if (addresses.length > 1)
      throw malformed(`${file} has more than one column ${addresses.map((k) => head[k]).join(", ")}`);
    return addresses[0] ?? -1;
  };
  const [name, blocks] = [placeOf("name"), placeOf("blocks")];
  const columns = times.flatMap((time) => (placeOf(time) < 0 ? [] : [[time, placeOf(time)] as const]));
  if (name < 0) throw malformed(`${file} has no column Op Name`);
  if (columns.length === 0)
    throw malformed(
      `${file} has no column with a time: ${times.map((time) => profileColumns[time][0]).join(", ")}`,
    );
  const kernels = new Map<
    string,
    { blocks: Set<number>; times: Map<ProfiledTime, number[]>; launches: number }
  >();
  for (const [k, line] of lines.entries()) {
    if (line.length !== head.length)
      throw malformed(`${file}: line ${k + 2} has ${line.length} fields, and the first line ${head.length}`);
    const number = (place: number): number | undefined => {
      const cell = line[place] ?? "";
      if (isEmpty(cell)) return undefined;
      const value = Number(cell);
      const isCount = place === blocks;
      if (!decimal.test(cell.trim()) || value > max || (isCount && !Number.isInteger(value)))
        throw malformed(
          `${file}: line ${k + 2}, ${head[place] ?? ""}: ${cell} is no ${isCount ? "whole " : ""}number from 0 to 2^53`,
        );
      return value;
    };
    const cell = line[name] ?? "";
    const kernel = kernels.get(cell) ?? {
      blocks: new Set<number>(),
      times: new Map<ProfiledTime, number[]>(),
      launches: 0,
    };
    kernels.set(cell, kernel);
    kernel.launches++;
    const blockCount = blocks < 0 ? undefined : number(blocks);
    if (blockCount !== undefined && blockCount > 0) kernel.blocks.add(blockCount);
    for (const [time, place] of columns) {
      const value = number(place);
      // A column that was not collected holds 0.
      if (value !== undefined && value > 0)
        kernel.times.set(time, [...(kernel.times.get(time) ?? []), value]);
    }
  }
  return [...kernels].map(([kernel, { blocks: blockCount, times: taken, launches }]): ProfiledKernel => {
    if (blockCount.size > 1)
      throw malformed(
        `${file}: ${kernel} ran on ${[...blockCount].join(" and on ")} blocks; one kernel has one number`,
      );
    const [only] = blockCount;
    return {
      name: kernel,
      launches,
      ...defined({ blocks: only }),
      microseconds: Object.fromEntries([...taken].map(([time, values]) => [time, median(values)])),
    };
  });
}

/** Returns the median of a list of numbers; 0 for an empty list. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] =
    sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : [sorted[middle - 1], sorted[middle]];
  return (low + high) / 2;
}
