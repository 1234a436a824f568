/**
 * Gathers and scatters of files of Spatter, the benchmark of both.
 *
 * Written after hpcgarage/spatter at ec89237 (2025-04-29), under src/Spatter: keys and defaults
 * (JSONParser.cc, Input.hh), patterns,
 * `boundary` and `pattern-size` (PatternParser.cc), and the loops of the kernels (Configuration.cc), for i below count and j below L:
 * `dense[j + L * (i % wrap)] = sparse[pattern[j] + delta * i]`, and of Scatter the same with its sides exchanged.
 */
import { hintFor } from "../../ir/did-you-mean.js";
import {
  at,
  CompileError,
  defined,
  error,
  InternalError,
  parseModule,
  UniqueNames,
  type Diagnostic,
  type Func,
  type Span,
} from "../../ir/index.js";
import { isObject } from "../../backends/index.js";
import { elementPositions, type ElementPosition } from "./json-positions.js";
import type { TensorValue } from "./tensor.js";
import { messageOf } from "../../ir/faults.js";

/**
 * Gather or scatter in a file of the Spatter benchmark. Execution i of `count` accesses the elements
 * `pattern[j] + delta * i`.
 */
export interface SpatterKernel {
  readonly kernel: "gather" | "scatter";
  /** Source position of the pattern, for diagnostics. */
  readonly span: Span;
  readonly pattern: readonly number[];
  readonly delta: number;
  readonly count: number;
  readonly wrap: number;
}

/**
 * Configuration in a file of the Spatter benchmark: a `program`, `refused` if tilec has no program for the
 * configuration, or `malformed` if Spatter would reject the configuration.
 */
export type SpatterEntry = {
  /** Position of the configuration in the file, from 0. Spatter numbers the results in the same way. */
  readonly id: string;
  readonly name: string;
} & (
  | { readonly kind: "program"; readonly kernel: SpatterKernel }
  | { readonly kind: "refused" | "malformed"; readonly diagnostic: Diagnostic }
);

/** Keys of a configuration. Those that say how Spatter runs change no program. */
const keys = [
  ...["name", "kernel", "pattern", "pattern-gather", "pattern-scatter", "pattern-size", "delta", "count"],
  ...["delta-gather", "delta-scatter", "boundary", "wrap", "seed", "local-work-size", "nruns"],
];

/** Long options of Spatter's command line (Input.hh). Spatter passes over them in a file. */
const options = [
  ...["aggregate", "atomic-thread-fence", "atomic-writes", "backend", "compress", "dense-buffers"],
  ...["omp-threads", "op", "random", "runs", "shared-memory", "verbosity"],
];

/** Kernels that are no programs here, and why. */
const unexpressed: Readonly<Record<string, string>> = {
  gs: "GS reads through one pattern and writes through another",
  multigather: "MultiGather reads its pattern through another one",
  multiscatter: "MultiScatter writes through a pattern of a pattern",
};

/**
 * Returns the configurations in the text of a Spatter benchmark file; an invalid configuration has a
 * diagnostic. Throws a CompileError (TC021) if the text is not a list of configurations.
 */
export function readSpatter(text: string, file: string): readonly SpatterEntry[] {
  const list = parsed(text, file);
  const positions = elementPositions(text, file);
  const names = new UniqueNames();
  return list.map((config, k): SpatterEntry => {
    const place = at(positions, k);
    const given = isObject(config) && typeof config["name"] === "string" ? config["name"] : "";
    const entry = { id: String(k), name: names.next(given.replaceAll(/\W/g, "_"), "gather") };
    try {
      return { ...entry, kind: "program", kernel: kernelOf(config, place, list.length) };
    } catch (thrown) {
      if (!(thrown instanceof SpatterFault)) throw thrown;
      const { kind, message, hint, key = "" } = thrown;
      const span = place.values.get(key) ?? place.span;
      return {
        ...entry,
        kind,
        diagnostic: error("TC021", `configuration ${k}: ${message}`, defined({ span, hint })),
      };
    }
  });
}

/**
 * Returns the unchecked configurations in the text of a Spatter benchmark file. Throws a CompileError (TC021)
 * if the text is not a JSON list with at least one entry.
 */
function parsed(text: string, file: string): readonly unknown[] {
  const refuse = (why: string): never => {
    const hint = '[{"kernel": "Gather", "pattern": "UNIFORM:8:1", "delta": 8, "count": 1024}]';
    throw new CompileError([error("TC021", `${file}: ${why}`, { hint })]);
  };
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (thrown) {
    return refuse(`not JSON: ${messageOf(thrown)}`);
  }
  if (!Array.isArray(list) || list.length === 0)
    return refuse("the file must be a list of one configuration or more");
  return list;
}

/** Reason why a configuration is no program. */
class SpatterFault extends Error {
  constructor(
    readonly kind: "refused" | "malformed",
    /** The key whose value it is about. */
    readonly key: string | undefined,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

const wrong = (key: string | undefined, message: string, hint?: string): never => {
  throw new SpatterFault("malformed", key, message, hint);
};

/**
 * Returns the gather or scatter that a Spatter configuration describes. `configurations`: number of
 * configurations in the file, among which Spatter divides the memory that limits the indices. Throws a
 * SpatterFault for an invalid or unsupported configuration.
 */
function kernelOf(config: unknown, place: ElementPosition, configurations: number): SpatterKernel {
  if (!isObject(config) || Array.isArray(config)) return wrong(undefined, "it must be an object");
  const unknown = Object.keys(config).find((key) => !keys.includes(key) && !options.includes(key));
  if (unknown !== undefined)
    wrong(unknown, `${unknown} is not a key of Spatter`, hintFor(unknown, keys, keys.join(", ")));
  if (typeof (config["name"] ?? "") !== "string") wrong("name", "name must be a string");
  const stated = config["kernel"] ?? "Gather";
  const kernel = typeof stated === "string" ? stated.toLowerCase() : "";
  const why = Object.hasOwn(unexpressed, kernel) ? unexpressed[kernel] : undefined;
  if (why !== undefined) throw new SpatterFault("refused", "kernel", why, "use kernel Gather or Scatter");
  if (kernel !== "gather" && kernel !== "scatter")
    return wrong(
      "kernel",
      `kernel ${JSON.stringify(stated)} is not a kernel of Spatter`,
      "Gather, Scatter, GS, MultiGather, MultiScatter",
    );
  const statedDelta = deltaOf(config["delta"]);
  const { pattern: indices, delta = statedDelta } = patternOf(config["pattern"]);
  const size = numberOf(config, "pattern-size", 1, indices.length);
  if (size > indices.length)
    wrong("pattern-size", `pattern-size ${size} is longer than the pattern of ${indices.length}`);
  // 65 GB of doubles over the configurations, halved: remap_pattern.
  const max = Math.floor(Math.floor(8_124_999_999 / configurations) / 2);
  const boundary = numberOf(config, "boundary", 0, 0) || max;
  return {
    kernel,
    span: place.values.get("pattern") ?? place.span,
    pattern: indices.slice(0, size).map((index) => index % boundary),
    delta,
    count: numberOf(config, "count", 1, 1024),
    wrap: numberOf(config, "wrap", 1, 1),
  };
}

type Config = Readonly<Record<string, unknown>>;

function numberOf(config: Config, key: string, least: number, byDefault: number): number {
  const value = config[key] ?? byDefault;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  return wrong(key, `${key} is ${JSON.stringify(value)}; it must be a whole number, ${least} or more`);
}

/**
 * Returns the delta of a Spatter configuration: the number of elements by which `pattern` moves from one
 * execution to the next; 8 if none is stated. Throws a SpatterFault unless the value is a number or a list of
 * equal numbers.
 */
function deltaOf(value: unknown): number {
  if (!Array.isArray(value)) return numberOf({ delta: value }, "delta", 0, 8);
  const [first] = value as readonly unknown[];
  if (value.length === 0) return wrong("delta", "delta is an empty list");
  if (value.every((one) => one === first)) return deltaOf(first);
  throw new SpatterFault(
    "refused",
    "delta",
    `delta ${JSON.stringify(value)} varies between gathers; tilec compiles one delta, %p[d1] + delta * d0`,
    "give one number as delta",
  );
}

interface Pattern {
  readonly pattern: readonly number[];
  /** The delta that the pattern says itself, in place of the configuration's. */
  readonly delta?: number;
}

const wrongPattern = (message: string, hint?: string): never => wrong("pattern", message, hint);

/**
 * Returns the index pattern of a Spatter configuration: a list of indices or a text, for example UNIFORM:8:1.
 * Throws a SpatterFault for any other value.
 */
function patternOf(value: unknown): Pattern {
  if (Array.isArray(value)) return { pattern: indicesOf(value) };
  if (typeof value !== "string")
    return wrongPattern("pattern is missing: a list of indices or a string", '"pattern": [0, 4, 8, 12]');
  const [type = "", ...args] = value.replaceAll('"', "").split(":");
  switch (type) {
    case "UNIFORM":
      return uniform(value, args);
    case "MS1":
      return { pattern: mostlyStrideOne(value, args) };
    case "LAPLACIAN":
      return laplacian(value, args);
    default:
      if (!/^\d+(?:,\d+)*$/.test(type) || args.length > 0)
        return wrongPattern(
          `pattern ${value} is not a pattern of Spatter`,
          "a list, UNIFORM:8:1, MS1:8:4:32, LAPLACIAN:2:1:100",
        );
      return { pattern: indicesOf(type.split(",").map(Number)) };
  }
}

/**
 * Returns a checked list of pattern indices. Throws a SpatterFault if the list is empty, or if an entry is
 * not an integer of 0 or more.
 */
function indicesOf(list: readonly unknown[]): readonly number[] {
  if (list.length === 0) return wrongPattern("pattern has no index");
  return list.map((index) =>
    typeof index === "number" && Number.isSafeInteger(index) && index >= 0
      ? index
      : wrongPattern(`index ${JSON.stringify(index)} of the pattern must be a whole number, 0 or more`),
  );
}

/** Returns whole numbers of an argument, each from `least`. */
const counts = (pattern: string, form: string, text: string | undefined, least: number): readonly number[] =>
  (text ?? "").split(",").map((word) => {
    const value = /^\d+$/.test(word) ? Number(word) : -1;
    return Number.isSafeInteger(value) && value >= least
      ? value
      : wrongPattern(`pattern ${pattern} is not ${form}`);
  });

function one(pattern: string, form: string, text: string | undefined): number {
  const [value, ...more] = counts(pattern, form, text, 1);
  return value === undefined || more.length > 0 ? wrongPattern(`pattern ${pattern} is not ${form}`) : value;
}

/** The most indices of a pattern that a text describes in a few letters. */
const maxIndexCount = 2 ** 24;

function lengthOf(pattern: string, length: number): number {
  return length <= maxIndexCount
    ? length
    : wrongPattern(`pattern ${pattern} has ${length} indices, more than ${maxIndexCount}`);
}

/**
 * Returns the index pattern of Spatter's UNIFORM:length:stride: the first `length` multiples of the stride,
 * from 0. An optional third argument sets the delta. Throws a SpatterFault for invalid arguments.
 */
function uniform(pattern: string, args: readonly string[]): Pattern {
  const form = "UNIFORM:length:stride[:delta|NR]";
  if (args.length < 2 || args.length > 3) wrongPattern(`pattern ${pattern} is not ${form}`);
  const length = lengthOf(pattern, one(pattern, form, args[0]));
  const stride = one(pattern, form, args[1]);
  const list = Array.from({ length }, (_, k) => k * stride);
  if (args.length === 2) return { pattern: list };
  return { pattern: list, delta: args[2] === "NR" ? length * stride : one(pattern, form, args[2]) };
}

/**
 * Returns the indices of Spatter's pattern MS1 (mostly stride 1): ascending by 1, with larger gaps at given
 * locations. Throws a SpatterFault for invalid arguments.
 */
function mostlyStrideOne(pattern: string, args: readonly string[]): readonly number[] {
  const form = "MS1:length:gap locations:gaps";
  if (args.length !== 3) wrongPattern(`pattern ${pattern} is not ${form}`);
  const length = lengthOf(pattern, one(pattern, form, args[0]));
  const locations = counts(pattern, form, args[1], 0);
  const gaps = counts(pattern, form, args[2], 0);
  if (gaps.length !== 1 && gaps.length !== locations.length)
    wrongPattern(
      `pattern ${pattern} has ${gaps.length} gaps for ${locations.length} locations`,
      "one gap, or one for each",
    );
  let value = -1;
  let next = 0;
  return Array.from({ length }, (_, k) => {
    const isGap = locations[next] === k;
    value += isGap ? (gaps.length === 1 ? (gaps[0] ?? 0) : (gaps[next] ?? 0)) : 1;
    if (isGap) next++;
    return value < 0 ? wrongPattern(`pattern ${pattern} has an index below 0`) : value;
  });
}

/**
 * Returns Spatter's pattern LAPLACIAN: the indices of the points of a stencil, shifted so that the lowest
 * index is 0, with delta 1. Throws a SpatterFault for invalid arguments.
 */
function laplacian(pattern: string, args: readonly string[]): Pattern {
  const form = "LAPLACIAN:dimension:order:size";
  if (args.length !== 3) wrongPattern(`pattern ${pattern} is not ${form}`);
  const [dimension, order, size] = [0, 1, 2].map((k) => one(pattern, form, args[k])) as [
    number,
    number,
    number,
  ];
  lengthOf(pattern, 2 * dimension * order + 1);
  const branch = Array.from({ length: dimension }, (_, d) =>
    Array.from({ length: order }, (__, k) => (k + 1) * size ** d),
  ).flat();
  const max = order * size ** (dimension - 1);
  if (!Number.isSafeInteger(2 * max))
    wrongPattern(`pattern ${pattern} has an index over the limit of ${Number.MAX_SAFE_INTEGER}`);
  const left = branch.toReversed().map((offset) => max - offset);
  return { pattern: [...left, max, ...branch.map((offset) => max + offset)], delta: 1 };
}

/**
 * Returns one program for all gathers or scatters of a Spatter configuration. A gather writes one output row
 * per execution; a scatter writes the array in place. Throws a CompileError (TC021) if an element index would
 * exceed 2^53 - 1.
 */
export function spatterProgram(kernel: SpatterKernel, name: string): Func {
  const { pattern, delta, count, span } = kernel;
  const elements = pattern.reduce((max, index) => Math.max(max, index), 0) + delta * (count - 1) + 1;
  if (!Number.isSafeInteger(elements))
    throw new CompileError([
      error("TC021", `@${name} reads beyond element ${Number.MAX_SAFE_INTEGER}, the limit`, { span }),
    ]);
  const text = programText(kernel, name, elements);
  const { module, diagnostics } = parseModule(text, span.file);
  const [func] = module.funcs;
  // Places in the text are none of the file.
  if (func?.level === "access") return { ...func, span, opSpan: span };
  throw diagnostics.length > 0
    ? new CompileError(diagnostics.map((diagnostic) => ({ ...diagnostic, span })))
    : new InternalError("a text with a function");
}

/**
 * Returns the program of a Spatter configuration as `.tir` text. `elements`: number of elements of the array
 * that is read or written by index.
 */
function programText(
  { kernel, pattern, delta, count, wrap }: SpatterKernel,
  name: string,
  elements: number,
): string {
  const sparse = `tensor<${elements}xf64>`;
  const dense = (rows: number): string => `tensor<${rows}x${pattern.length}xf64>`;
  const params = `%p: tensor<${pattern.length}x${indexType(pattern)}>`;
  const index = `error(${delta === 0 ? "%p[d1]" : `%p[d1] + ${delta} * d0`} in ${elements})`;
  switch (kernel) {
    case "gather":
      return `func @${name}(%sparse: ${sparse}, ${params}) -> ${dense(count)} schedule {residency = auto} {
  %dense = access.gather %sparse, %p (d0, d1) -> (${index}) {oob = error}
  return %dense
}
`;
    case "scatter": {
      const rows = Math.min(wrap, count);
      const row = rows === count ? "d0" : `d0 mod ${rows}`;
      return `func @${name}(%sparse: inout ${sparse}, ${params}, %dense: ${dense(rows)}) -> ${sparse} {
  %written = access.scatter %sparse, %p, %dense (d0 < ${count}, d1 < ${pattern.length}) -> (${index}) yield %dense[${row}, d1] {oob = error, duplicates = last}
  return %written
}
`;
    }
  }
}

const indexType = (pattern: readonly number[]): "i32" | "i64" =>
  pattern.every((index) => index < 2 ** 31) ? "i32" : "i64";

/**
 * Returns the index pattern of a Spatter configuration as a tensor of one dim. The element type is i32, or
 * i64 if an index is 2^31 or more.
 */
export function patternTensor({ pattern }: SpatterKernel): TensorValue {
  const dtype = indexType(pattern);
  const numbers = dtype === "i32" ? Int32Array.from(pattern) : BigInt64Array.from(pattern, BigInt);
  return { type: { dtype, shape: [pattern.length] }, bytes: new Uint8Array(numbers.buffer) };
}

/**
 * Returns the array that Spatter would produce from the output of a program. Spatter stores gather i in row i
 * modulo `wrap`, where later gathers overwrite earlier gathers. A scatter's output is returned unchanged.
 */
export function writtenLast(
  output: TensorValue,
  { kernel, wrap, count, pattern }: SpatterKernel,
): TensorValue {
  if (kernel === "scatter") return output;
  const { type, bytes } = output;
  const rows = Math.min(wrap, count);
  const rowBytes = pattern.length * elementBytes;
  const dense = new Uint8Array(rows * rowBytes);
  for (let row = 0; row < rows; row++) {
    const last = count - 1 - ((count - 1 - row) % wrap);
    dense.set(bytes.subarray(last * rowBytes, (last + 1) * rowBytes), row * rowBytes);
  }
  return { type: { ...type, shape: [rows, pattern.length] }, bytes: dense };
}

const elementBytes = 8;
