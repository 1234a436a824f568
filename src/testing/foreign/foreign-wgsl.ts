/**
 * A WGSL kernel that tilec did not write, on a device. It runs twice on each draw, so that reads and writes
 * outside its tensors show: with bindings that end where the tensors end, then with longer ones that hold
 * guard words behind them. What the output holds before a launch differs between the two, and guard words
 * must be the same after it.
 */
import type { HostInputs } from "../../../backends/index.js";
import { coordinates } from "../../../backends/index.js";
import {
  openForeignLauncher,
  type BoundContents,
  type ForeignLauncher,
} from "../../../backends/webgpu/foreign-launch.js";
import {
  at,
  byteCount,
  bytesOf,
  CompileError,
  entryOf,
  error,
  formatShape,
  invariant,
  keyOf,
  outputOf,
  RunError,
  byteAligned,
  type Diagnostic,
  type Operand,
} from "../../../ir/index.js";
import { hintFor } from "../../../ir/did-you-mean.js";
import { evaluateSizes, sizesByName, type NamedSizes } from "./size-expression.js";
import { readDeclarations, type DeclaredBinding } from "./wgsl-declarations.js";

/**
 * WGSL kernel that a caller supplies: the text of a compute shader, the bindings in group 0, and the
 * dispatch.
 */
export interface ForeignWgsl {
  readonly name?: string;
  /** Text of the WGSL shader. */
  readonly wgsl: string;
  /** Name of the compute entry point; default: the only entry point in the text. */
  readonly entry?: string;
  /**
   * Binding number of each operand in group 0, by the operand's key or name: `{ data: 0, indices: 1, output:
   * 2 }`.
   */
  readonly bind: Readonly<Record<string, number>>;
  /** One to three workgroup counts, as expressions over the sizes of the program: `ceil(out0 / 64), out1`. */
  readonly dispatch: string;
  /** u32 numbers of uniform buffers, by binding: `{ 3: "out0, in0_1" }`. */
  readonly uniform?: Readonly<Record<string, string>>;
  /** Values of `override` declarations, by name: `{ width: "in0_1" }`. */
  readonly override?: Readonly<Record<string, string>>;
  /** True for one whose bounds come from `arrayLength`: it runs with exact bindings alone. Default false. */
  readonly usesArrayLength?: boolean;
  /** Milliseconds that a draw may take. Default 60,000. */
  readonly timeout?: number;
}

/** Bytes before and after a tensor: a multiple of what WebGPU asks of the start of a binding. */
const guardBytes = 256;
/**
 * Returns a byte of a guard: another in each buffer and at each place, so that one that is copied to another
 * shows.
 */
const guardByte = (buffer: number, place: number): number => (0xc3 + 31 * buffer + 7 * place) & 0xff;
/** Bytes of the output before each of the two launches. */
const stale = [0xa5, 0x5a] as const;

/**
 * Returns the bindings that a WGSL kernel declares and the compute entry point to run. Throws a CompileError
 * (TC702) if the text does not declare a requested binding or entry point.
 */
export function declarationsOf({ wgsl, bind, entry, uniform = {} }: ForeignWgsl): {
  readonly bindings: readonly DeclaredBinding[];
  readonly entryPoint: string;
} {
  const { bindings, entryPoints } = readDeclarations(wgsl);
  const entryPoint = chosenEntry(entry, entryPoints);
  for (const number of [...Object.values(bind), ...Object.keys(uniform).map(Number)]) {
    if (bindings.some(({ binding }) => binding === number)) continue;
    throw refused(`the WGSL declares no binding ${number} in group 0`, `it declares ${listed(bindings)}`);
  }
  return { bindings, entryPoint };
}

/**
 * Prepares a WGSL kernel for a program on a device and returns a function that runs the kernel on inputs.
 * Throws a CompileError (TC702) for an operand without a binding or of strings, and for invalid sizes. Throws
 * a RunError (TC611) if the device refuses the kernel.
 */
export async function openWgsl(
  described: ForeignWgsl,
  program: OperandsOfProgram,
  device: GPUDevice,
): Promise<(inputs: HostInputs) => Promise<Uint8Array>> {
  const { bindings, entryPoint } = declarationsOf(described);
  const sizes = sizesByName(program);
  const bound = bindings.map((binding) => ({
    ...binding,
    holds: contentOf(binding, described, program, sizes),
  }));
  for (const operand of program.operands) {
    if (operand.type.dtype === "string")
      throw refused(`${keyOf(operand)} is strings`, "a shader reads bytes: give it a tensor of numbers");
    if (bound.some(({ holds }) => holds === operand)) continue;
    throw refused(
      `no binding is that of ${keyOf(operand)}`,
      `bind ${keyOf(operand)} to one of ${listed(bindings)}`,
    );
  }
  const dispatch = workgroups(described.dispatch, sizes);
  const constants = Object.fromEntries(
    Object.entries(described.override ?? {}).map(([constantName, text]) => [
      constantName,
      at(evaluateSizes(text, sizes, `override ${constantName}`), 0),
    ]),
  );
  const launcher = await openForeignLauncher(device, {
    code: described.wgsl,
    entryPoint,
    constants,
    bindings,
  });
  return (inputs) => twice(launcher, { described, program, bound, dispatch, inputs });
}

/** A binding, and what its buffer holds: an operand, or numbers. */
type Bound = DeclaredBinding & { readonly holds: Operand | readonly number[] };

/** Operands of a program: the inputs, then the output. */
export interface OperandsOfProgram {
  readonly operands: readonly Operand[];
}

/**
 * Returns the entry point to run: `given`, or the only declared entry point. Throws a CompileError (TC702) if
 * `given` is not declared, or if `given` is undefined and the number of declared entry points is not 1.
 */
function chosenEntry(given: string | undefined, declared: readonly string[]): string {
  const [only] = declared;
  if (given !== undefined) {
    if (declared.includes(given)) return given;
    throw refused(
      `the WGSL has no compute entry point ${given}`,
      hintFor(given, declared, `it has ${declared.join(", ") || "none"}`),
    );
  }
  if (only === undefined) throw refused("the WGSL has no compute entry point", "@compute marks one");
  if (declared.length > 1)
    throw refused(`the WGSL has ${declared.length} compute entry points`, `name one: ${declared.join(", ")}`);
  return only;
}

/**
 * Returns the contents of a binding of a WGSL kernel: an operand of the program, or the numbers of a uniform
 * buffer. Throws a CompileError (TC702) if the caller gives the binding no contents, or contents that do not
 * fit.
 */
function contentOf(
  { binding, name, access }: DeclaredBinding,
  { bind, uniform = {} }: ForeignWgsl,
  program: OperandsOfProgram,
  sizes: NamedSizes,
): Bound["holds"] {
  const numbers = uniform[String(binding)];
  if (numbers !== undefined) {
    if (access !== "uniform")
      throw refused(`${name} (binding ${binding}) is no uniform buffer`, "leave it out");
    return evaluateSizes(numbers, sizes, `uniform ${binding}`);
  }
  const named = Object.entries(bind).filter(([, number]) => number === binding);
  const [first, second] = named.map(([called]) => called);
  if (first === undefined)
    throw refused(
      `${name} (binding ${binding}) holds nothing`,
      access === "uniform" ? `say which sizes: ${binding}=out0` : `say which operand: data=${binding}`,
    );
  if (second !== undefined)
    throw refused(`binding ${binding} is both ${first} and ${second}`, "give each its own");
  const operand =
    program.operands.find((operand) => keyOf(operand) === first) ??
    program.operands.find((operand) => operand.name === first);
  if (operand === undefined)
    throw refused(
      `the program has no operand ${first}`,
      `its operands are ${program.operands.map(keyOf).join(", ")}`,
    );
  if (access === "uniform")
    throw refused(`${name} is a uniform buffer, and ${first} a tensor`, "make it var<storage>");
  if (operand === outputOf(program) && access !== "read_write")
    throw refused(`${name} is the output and is only read`, "declare it var<storage, read_write>");
  return operand;
}

/**
 * Evaluates the dispatch of a WGSL kernel and returns three workgroup counts; an absent count is 1. Throws a
 * CompileError (TC702) for more than three counts.
 */
function workgroups(text: string, sizes: NamedSizes): readonly [number, number, number] {
  const [x, y = 1, z = 1, ...more] = evaluateSizes(text, sizes, "dispatch");
  invariant(x !== undefined, "a list has one number at least");
  if (more.length > 0)
    throw refused(`the dispatch has ${3 + more.length} numbers`, "there are three dims at most");
  return [x, y, z];
}

interface Launch {
  readonly described: ForeignWgsl;
  readonly program: OperandsOfProgram;
  readonly bound: readonly Bound[];
  readonly dispatch: readonly [number, number, number];
  readonly inputs: HostInputs;
}

/**
 * Runs a WGSL kernel twice and returns the output. Rejects with a RunError (TC612) if the output depends on
 * bytes outside the tensors. A kernel that uses `arrayLength` runs once.
 */
async function twice(launcher: ForeignLauncher, launch: Launch): Promise<Uint8Array> {
  const exact = await once(launcher, launch, 0);
  if (launch.described.usesArrayLength === true) return exact;
  const longer = await once(launcher, launch, 1);
  const { type } = outputOf(launch.program);
  const size = bytesOf(byteAligned(type.dtype));
  const differs = exact.findIndex((byte, k) => byte !== longer[k]);
  if (differs < 0) return exact;
  const element = Math.floor(differs / size);
  const point = formatShape(coordinates(element, type.shape));
  const isStale = exact
    .subarray(element * size, (element + 1) * size)
    .every((byte, k) => byte === stale[0] && longer[element * size + k] === stale[1]);
  const message = isStale
    ? `output ${point} is never written`
    : `output ${point} differs between two launches on the same inputs: it depends on bytes outside the tensors, on what the output held before, or on the order of invocations`;
  throw outside(launch, message, { element, point: coordinates(element, type.shape) });
}

/**
 * Runs a WGSL kernel once and returns the output. With `which` 0, the binding of a tensor ends where the
 * tensor ends; with 1, the binding is longer. Rejects with an error if the kernel writes bytes outside the
 * output.
 */
async function once(launcher: ForeignLauncher, launch: Launch, which: 0 | 1): Promise<Uint8Array> {
  const { bound, program, dispatch, inputs } = launch;
  const output = outputOf(program);
  const buffers = bound.map(({ holds }, k): BoundContents => {
    if (!isOperand(holds)) return uniformOf(holds);
    const bytes =
      holds === output
        ? new Uint8Array(byteCount(output.type)).fill(stale[which])
        : (entryOf(inputs, keyOf(holds))?.bytes ?? new Uint8Array());
    return guarded(bytes, k, which === 1);
  });
  const after = await launcher.launch(buffers, dispatch);
  let result: Uint8Array | undefined;
  for (const [k, { holds, name }] of bound.entries()) {
    if (!isOperand(holds)) continue;
    const [before, now] = [at(buffers, k).contents, at(after, k)];
    const bytes = byteCount(holds.type);
    if (holds === output) result = now.slice(guardBytes, guardBytes + bytes);
    const changed = now.findIndex(
      (byte, j) => byte !== before[j] && !(holds === output && j >= guardBytes && j < guardBytes + bytes),
    );
    if (changed < 0) continue;
    const byte = changed - guardBytes;
    const message =
      holds === output
        ? `${name} is written at byte ${byte}, and its tensor has bytes 0 to ${bytes - 1}`
        : `${name} is an input, and byte ${byte} of it is written`;
    throw outside(launch, message, { byte });
  }
  invariant(result !== undefined, "the output is bound");
  return result;
}

const isOperand = (holds: Bound["holds"]): holds is Operand => "type" in holds;

/**
 * Returns the contents of a buffer that has a tensor between guard bytes, and the range to bind. The range is
 * the tensor rounded up to 4-byte words. If `isLonger` is true, the range includes the guard bytes after the
 * tensor.
 */
function guarded(bytes: Uint8Array, buffer: number, isLonger: boolean): BoundContents {
  const words = Math.max(4, Math.ceil(bytes.byteLength / 4) * 4);
  const contents = new Uint8Array(guardBytes + words + guardBytes);
  for (let k = 0; k < guardBytes; k++) contents[k] = guardByte(buffer, k);
  for (let k = guardBytes + bytes.byteLength; k < contents.length; k++) contents[k] = guardByte(buffer, k);
  contents.set(bytes, guardBytes);
  return { contents, offset: guardBytes, size: isLonger ? words + guardBytes : words };
}

/** Numbers as u32, in whole vectors of four. */
function uniformOf(numbers: readonly number[]): BoundContents {
  const words = new Uint32Array(Math.max(4, Math.ceil(numbers.length / 4) * 4));
  words.set(numbers);
  return { contents: new Uint8Array(words.buffer), offset: 0, size: words.byteLength };
}

const outside = (
  { described: { name = "foreign" } }: Launch,
  message: string,
  data: NonNullable<Diagnostic["data"]>,
): RunError => new RunError([error("TC612", `${name}: ${message}`, { data })]);

const refused = (message: string, hint: string): CompileError =>
  new CompileError([error("TC702", message, { hint })]);

const listed = (bindings: readonly DeclaredBinding[]): string =>
  bindings.map(({ binding, name }) => `${binding} (${name})`).join(", ") || "none";
