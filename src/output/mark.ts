/**
 * Marks by which tilec knows the files that it wrote. They stand at their beginning, and it writes over no
 * file without one. A text gets a comment, a JSON document begins with its schema; the other formats are
 * known by how they begin anyway.
 */
import { InternalError } from "../../ir/types.js";

/** Schema version of all JSON documents that tilec prints or writes. */
export const jsonSchema = 1;

/**
 * Format of an output file: the check for tilec's mark, and the function that adds the mark. The function is
 * absent if contents of the format are marked already.
 */
export interface OutputFormat {
  /** True if a file of this format that begins with `head` is tilec's. */
  readonly isMarked: (head: string) => boolean;
  /**
   * Returns the contents with the mark; `by`: the command that writes them. Absent: contents are marked as
   * they are.
   */
  readonly marked?: (text: string, by: string) => string;
}

/** Number of bytes at the start of a file that are searched for a mark. */
export const headBytes = 4096;

/** Comments to the end of a line, the first of which is the mark. */
function lines(opening: string): OutputFormat {
  const mark = `${opening} tilec`;
  const isMarked = (head: string): boolean =>
    head.startsWith(mark) && !/^[\w-]/.test(head.slice(mark.length));
  return { isMarked, marked: (text, by) => (isMarked(text) ? text : `${mark} ${by}\n${text}`) };
}

/** A document begins with its type or its outermost element, and the mark is behind that. */
const markup: OutputFormat = {
  isMarked: (head) => /^(?:<[!\w][^>]*>\s*)?<!-- tilec(?![\w-])/.test(head),
  marked: (text, by) => text.replace(/^<[^>]*>/, (first) => `${first}\n<!-- tilec ${by} -->`),
};

/** True if `head` begins like a file of records, even if its first line is incomplete. */
export function isRecordLine(head: string): boolean {
  if (head.startsWith('{"record":"')) return true;
  // Records of before have their fields in the order of the alphabet.
  const [line = ""] = head.split("\n", 1);
  return line.startsWith("{") && line.includes('"record":"');
}

/**
 * Formats of output files by name, each recognized by how its files begin. `code` is a text with `//`
 * comments.
 */
export const outputFormats = {
  code: lines("//"),
  wat: lines(";;"),
  text: lines("#"),
  markup,
  json: { isMarked: (head) => new RegExp(`^\\s*\\{\\s*"schema"\\s*:\\s*${jsonSchema}\\s*[,}]`).test(head) },
  records: { isMarked: isRecordLine },
  npy: { isMarked: (head) => head.startsWith("\x93NUMPY") },
  /** Tables of `tune --csv`: of a sweep, and of candidates. */
  csv: {
    isMarked: (head) =>
      /^(?:\w+,residency,tile,view,order,buffers,cycles,default_cost,reason|task,candidate,status,code,reason,.*)\r?\n/.test(
        head,
      ),
  },
  /** Rows of `--list`. */
  rows: { isMarked: (head) => /^command,id,key,name,.*\r?\n/.test(head) },
} as const satisfies Readonly<Record<string, OutputFormat>>;

/**
 * The formats whose marks nobody else writes: that of `.npy` begins every array of numpy's, and a table's is
 * its header.
 */
const signed: readonly OutputFormat[] = [
  outputFormats.code,
  outputFormats.wat,
  outputFormats.text,
  outputFormats.markup,
  outputFormats.json,
];

/** True if tilec may write a file of this format over one that begins with `head`. */
export const mayReplace = (format: OutputFormat, head: string): boolean =>
  [...signed, format].some(({ isMarked }) => isMarked(head));

/**
 * Returns contents with tilec's mark, if their format can add one. Throws an InternalError for contents that
 * would not be recognized as tilec's.
 */
export function withMark(
  contents: Uint8Array | string,
  format: OutputFormat,
  by: string,
): Uint8Array | string {
  const written = typeof contents === "string" ? (format.marked?.(contents, by) ?? contents) : contents;
  if (!format.isMarked(headOf(written))) throw new InternalError(`the output of ${by} carries no mark`);
  return written;
}

const headOf = (contents: Uint8Array | string): string =>
  typeof contents === "string" ? contents.slice(0, headBytes) : latin1(contents.subarray(0, headBytes));

/**
 * Returns a string with one character for each byte, so that the start of any file can be matched as text.
 */
export const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);
