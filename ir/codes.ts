/** Category of a diagnostic, which groups related diagnostic codes. */
export type Category =
  | "text"
  | "file"
  | "axis"
  | "rank"
  | "shape"
  | "dtype"
  | "attribute"
  | "structure"
  | "map"
  | "value"
  | "tile"
  | "full-load"
  | "ub-budget"
  | "residency"
  | "target"
  | "device"
  | "index"
  | "duplicate"
  | "memory"
  | "mismatch"
  | "usage"
  | "hint";

/** Title and category of a diagnostic code. */
export interface CodeInfo {
  readonly category: Category;
  readonly title: string;
}

/** Category and title of every diagnostic, keyed by diagnostic code (docs/diagnostics.md). */
export const codes = {
  TC001: { category: "text", title: "a character or token that the text form does not have" },
  TC002: { category: "text", title: "text that does not follow the grammar" },
  TC003: { category: "text", title: "an unknown operator, attribute or name" },
  TC010: { category: "file", title: "a file that cannot be read or written" },
  TC011: { category: "file", title: "a malformed .npy file" },
  TC012: { category: "file", title: "an input whose type or shape is not the program's" },
  TC013: { category: "file", title: "a malformed case file" },
  TC014: { category: "file", title: "a malformed or unsupported .onnx file" },
  TC015: { category: "file", title: "a malformed target file" },
  TC016: { category: "file", title: "malformed tuning records" },
  TC017: { category: "file", title: "tuning records of another task" },
  TC018: { category: "file", title: "a config file that cannot be used" },
  TC019: { category: "file", title: "malformed measurements" },
  TC020: {
    category: "file",
    title: "an unreadable PyPTO dump, or a gather in it that cannot be judged",
  },
  TC021: {
    category: "file",
    title: "an unreadable Spatter file, or a kernel in it that tilec does not compile",
  },
  TC101: { category: "axis", title: "an axis outside the operator's range" },
  TC102: { category: "rank", title: "a rank the operator does not take" },
  TC103: { category: "shape", title: "shapes that do not fit together" },
  TC104: { category: "dtype", title: "an element or index type the dialect does not take" },
  TC105: { category: "attribute", title: "an attribute value outside its range" },
  TC106: { category: "shape", title: "a tensor of too many elements" },
  TC107: { category: "shape", title: "a symbol without a size, or with a size outside its range" },
  TC201: { category: "structure", title: "IR that breaks an invariant of its level" },
  TC202: { category: "structure", title: "a unified buffer without addresses, or with overlapping ones" },
  TC203: { category: "structure", title: "accesses that no sync orders" },
  TC204: { category: "map", title: "an access map that breaks a rule" },
  TC205: { category: "value", title: "a value expression that breaks a rule" },
  TC301: {
    category: "full-load",
    title: "a tile, a view or a region that cuts the gather dim, or splits a sum among tasks",
  },
  TC302: { category: "tile", title: "a malformed tile" },
  TC303: { category: "tile", title: "a malformed schedule" },
  TC304: {
    category: "tile",
    title: "a tile, a view or a region of packed elements that starts inside a byte",
  },
  TC401: { category: "ub-budget", title: "a tile whose footprint exceeds the unified buffer" },
  TC402: { category: "ub-budget", title: "a program for which no tile is legal" },
  TC403: {
    category: "residency",
    title: "a residency or lowering that the target or operator does not have",
  },
  TC501: { category: "target", title: "an unknown target" },
  TC502: { category: "device", title: "a device limit that the program exceeds" },
  TC503: { category: "device", title: "no WebGPU device" },
  TC504: { category: "device", title: "a device that was lost or ran out of memory" },
  TC505: { category: "device", title: "a program that a backend cannot express" },
  TC506: { category: "device", title: "a candidate stopped for taking too long" },
  TC601: { category: "index", title: "an index out of range" },
  TC602: { category: "memory", title: "a read of unified buffer bytes that were never written" },
  TC603: { category: "memory", title: "an access outside its buffer" },
  TC604: { category: "memory", title: "a race: two pipes touch the same bytes and nothing orders them" },
  TC605: { category: "memory", title: "a buffer that overlaps a live one" },
  TC606: { category: "memory", title: "an output element written twice or never" },
  TC607: { category: "duplicate", title: "two points of a scatter that write one element" },
  TC610: { category: "mismatch", title: "backends that disagree" },
  TC611: { category: "mismatch", title: "a custom backend that crashed or gave no output" },
  TC612: {
    category: "mismatch",
    title: "a kernel that writes outside its output or depends on other memory",
  },
  TC701: { category: "usage", title: "a command line that cannot be understood" },
  TC702: { category: "usage", title: "an argument or input that the library does not take" },
  TC703: { category: "usage", title: "a package that is not installed" },
  TC901: { category: "hint", title: "rows shorter than the target's efficient burst" },
  TC902: { category: "hint", title: "fewer tasks than half the cores" },
  TC903: { category: "hint", title: "an operand that is loaded many times over" },
  TC904: { category: "hint", title: "the scalar unit gathers element by element" },
  TC905: { category: "hint", title: "part of the unified buffer may be overwritten by library scratch" },
  TC906: { category: "hint", title: "a tile that is judged as a smaller tile" },
  TC907: { category: "hint", title: "the reason for a residency, or a faster residency" },
  TC908: { category: "hint", title: "a second copy of a buffer that would not be used" },
  TC909: { category: "hint", title: "a tile that straddles pages" },
  TC910: { category: "hint", title: "a sum whose order the framework leaves open" },
  TC911: { category: "hint", title: "an element type on which the framework contradicts itself" },
  TC912: { category: "hint", title: "inputs for which an Ascend core may give other bits" },
  TC913: { category: "hint", title: "a rotation of tasks that changes nothing" },
} as const satisfies Readonly<Record<string, CodeInfo>>;

/** Stable code of a diagnostic, such as `TC301`. */
export type Code = keyof typeof codes;
/** True if a text is a diagnostic code. */
export const isCode = (text: string): text is Code => Object.hasOwn(codes, text);
/** Returns the category of a diagnostic code. */
export const categoryOf = (code: Code): Category => codes[code].category;
