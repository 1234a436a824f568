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

/** Places of the columns in a line of a profile file, from 0. */
interface ProfileColumns {
  readonly name: number;
  readonly blocks: number | undefined;
  readonly times: readonly (readonly [time: ProfiledTime, place: number])[];
}

/** Values of the launches of one kernel. */
interface Launches {
  launches: number;
  readonly blocks: Set<number>;
  readonly times: Map<ProfiledTime, number[]>;
}

/**
 * Parses a CSV profile file of msprof and returns one summary for each kernel, in file order. Throws a
 * CompileError (TC019) if the file is empty, lacks a required column, has an invalid line, or states two
 * block counts for one kernel.
 */
export function parseProfile(text: string, file: string): readonly ProfiledKernel[] {
  const [head, ...lines] = fieldsOf(text.replace(/^\uFEFF/, ""), file);
  if (head === undefined) throw malformed(`${file} is empty`);
  const columns = columnsOf(head, file);
  const kernels = new Map<string, Launches>();
  for (const [k, line] of lines.entries()) {
    if (line.length !== head.length)
      throw malformed(`${file}: line ${k + 2} has ${line.length} fields, and the first line ${head.length}`);
    const numberAt = (place: number): number | undefined =>
      parseCell(line[place] ?? "", place === columns.blocks, `${file}: line ${k + 2}, ${head[place] ?? ""}`);
    const name = line[columns.name] ?? "";
    const kernel: Launches = kernels.get(name) ?? { launches: 0, blocks: new Set(), times: new Map() };
    kernels.set(name, kernel);
    addLaunch(kernel, columns, numberAt);
  }
  return [...kernels].map(([name, kernel]) => summarize(name, kernel, file));
}

/**
 * Returns the places of the columns that the first line of a profile file names. Throws a CompileError
 * (TC019) if a column is there twice, or if the column of names or every column of times is absent.
 */
function columnsOf(head: readonly string[], file: string): ProfileColumns {
  const placeOf = (column: keyof typeof profileColumns): number | undefined => {
    const addresses = [...head.keys()].filter((k) =>
      profileColumns[column].some((entry) => entry === head[k]),
    );
    if (addresses.length > 1)
      throw malformed(`${file} has more than one column ${addresses.map((k) => head[k]).join(", ")}`);
    return addresses[0];
  };
  const [name, blocks] = [placeOf("name"), placeOf("blocks")];
  const columns = times.flatMap((time) => {
    const place = placeOf(time);
    return place === undefined ? [] : [[time, place] as const];
  });
  if (name === undefined) throw malformed(`${file} has no column Op Name`);
  if (columns.length === 0)
    throw malformed(
      `${file} has no column with a time: ${times.map((time) => profileColumns[time][0]).join(", ")}`,
    );
  return { name, blocks, times: columns };
}

/**
 * Parses a number of a profile file; undefined if msprof left the cell without a value. `isCount`: true if
 * the number must be an integer. Throws a CompileError (TC019) that starts with `where` if the cell is
 * anything else.
 */
function parseCell(cell: string, isCount: boolean, where: string): number | undefined {
  if (isEmpty(cell)) return undefined;
  const value = Number(cell);
  if (!decimal.test(cell.trim()) || value > max || (isCount && !Number.isInteger(value)))
    throw malformed(`${where}: ${cell} is no ${isCount ? "whole " : ""}number from 0 to 2^53`);
  return value;
}

/** Adds a line of a profile file to the launches of its kernel. `numberAt`: returns the number at a place. */
function addLaunch(
  kernel: Launches,
  columns: ProfileColumns,
  numberAt: (place: number) => number | undefined,
): void {
  kernel.launches++;
  const blocks = columns.blocks === undefined ? undefined : numberAt(columns.blocks);
  if (blocks !== undefined && blocks > 0) kernel.blocks.add(blocks);
  for (const [time, place] of columns.times) {
    const value = numberAt(place);
    // A column that was not collected holds 0.
    if (value !== undefined && value > 0) kernel.times.set(time, [...(kernel.times.get(time) ?? []), value]);
  }
}

/**
 * Returns the summary of a kernel's launches. Throws a CompileError (TC019) if launches have different
 * numbers of blocks.
 */
function summarize(name: string, { launches, blocks, times: taken }: Launches, file: string): ProfiledKernel {
  if (blocks.size > 1)
    throw malformed(
      `${file}: ${name} ran on ${[...blocks].join(" and on ")} blocks; one kernel has one number`,
    );
  const [only] = blocks;
  return {
    name,
    launches,
    ...defined({ blocks: only }),
    microseconds: Object.fromEntries([...taken].map(([time, values]) => [time, median(values)])),
  };
}

/** Returns the median of a list of numbers; 0 for an empty list. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] =
    sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : [sorted[middle - 1], sorted[middle]];
  return (low + high) / 2;
}
