/**
 * Marks by which tilec knows the files that it wrote. They stand at their beginning, and it writes over no
 * file without one. A text gets a comment, a JSON document begins with its schema; the other formats are
 * known by how they begin anyway.
 */
import { InternalError } from "../../ir/types.js";

/** Schema version of all JSON documents that tilec prints or writes, stored in the field `schema`. */
export const jsonSchema = 1;

/**
 * Format of an output file: a check for tilec's mark, and an optional function that adds the mark. The mark
 * is a text at the start of a file by which tilec recognizes files written by tilec.
 */
export interface OutputFormat {
  /** True if `head`, the start of a file of this format, has tilec's mark. */
  readonly isMarked: (head: string) => boolean;
  /**
   * Returns `text` with the mark. `by`: command that writes the file. Absent: contents of the format have a
   * mark already.
   */
  readonly marked?: (text: string, by: string) => string;
}

/** Number of bytes at the start of a file that are searched for tilec's mark. */
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

/**
 * True if a file that begins with `head` is a JSON Lines file of tuning records: the first line is an object
 * with the field `record`.
 */
export function isRecordLine(head: string): boolean {
  if (head.startsWith('{"record":"')) return true;
  // Records of before have their fields in the order of the alphabet.
  const [line = ""] = head.split("\n", 1);
  return line.startsWith("{") && line.includes('"record":"');
}

/** Formats of the files that tilec writes, by name. `code`: a text with `//` comments. */
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

/**
 * True if tilec may overwrite a file that begins with `head` by a file of the format `format`. The file must
 * have the mark of `format`, or a mark that only tilec writes.
 */
export const mayReplace = (format: OutputFormat, head: string): boolean =>
  [...signed, format].some(({ isMarked }) => isMarked(head));

/**
 * Returns contents with tilec's mark at the start. Contents that are bytes, or that already have the mark,
 * are returned unchanged. `by`: command that writes the contents. Throws an InternalError if tilec would not
 * recognize the result.
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
 * Returns a string with one character for each byte (Latin-1), so that regular expressions can match the
 * start of any file.
 */
export const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);
