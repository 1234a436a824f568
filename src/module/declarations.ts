/** The types of a module, for its caller. */
import { inputsOf, keyOf, outputOf, inoutOf, type Operand } from "../../ir/func.js";
import { elementTypes, isPacked } from "../../ir/types.js";
import { printKey, type ModuleProgram } from "./module-facts.js";

/** Kind of an emitted JavaScript module: `module` uses WebGPU, `module-cpu` uses WebAssembly. */
export type ModuleKind = "module" | "module-cpu";

function given({ type: { dtype } }: Operand): string {
  if (dtype === "string") return "readonly string[]";
  const array = elementTypes[dtype].array.name;
  if (isPacked(dtype)) return "Uint8Array | Int8Array";
  return array === "Uint8Array" ? array : `${array} | Uint8Array`;
}

const made = ({ type: { dtype } }: Operand): string =>
  dtype === "string" ? "readonly string[]" : elementTypes[dtype].array.name;

const fields = (operands: readonly Operand[], typeOf: (operand: Operand) => string): string =>
  operands.map((operand) => `  readonly ${printKey(keyOf(operand))}: ${typeOf(operand)};\n`).join("");

/**
 * Returns the text of the TypeScript declaration file of a module. `head`: comment at the top of the file.
 */
export function printDeclarations(program: ModuleProgram, kind: ModuleKind, head: string): string {
  const written = inoutOf(program);
  const symbols = program.symbolic?.symbols ?? [];
  const sizes = symbols.length === 0 ? "" : ", sizes: Sizes";
  const gpu = kind === "module";
  return `${head}${gpu ? globals : ""}
/** Row-major; bytes are welcome for any type. */
export interface Inputs {
${fields(inputsOf(program), given)}}

${written === undefined ? "export interface Outputs" : outputsInPlace(written)} {
${fields([outputOf(program)], written === undefined ? made : () => "Written")}}
${
  symbols.length === 0
    ? ""
    : `
/** In elements. */
export interface Sizes {
${symbols.map(({ name, most }) => `  /** At most ${most}. */\n  readonly ${name}: number;\n`).join("")}}
`
}${
    gpu
      ? `
/**
 * Buffers of the module's device, with the usage STORAGE. Inputs with indices also need COPY_SRC, for
 * \`check\` to name the index.
 */
export interface Buffers {
${fields(written === undefined ? program.operands : inputsOf(program), () => "GPUBuffer")}}
`
      : ""
  }
export interface Gather {
  /** Rejects with a GatherError: TC601 for an index out of range, TC702 for arrays of another type or length. */
  ${written === undefined ? `run(inputs: Inputs${sizes}): Promise<{ readonly outputs: Outputs }>` : runInPlace(written, sizes)};
${
  gpu
    ? `  /** One launch in the caller's compute pass: no copies, no synchronization. Throws a GatherError (TC702). */
  encode(pass: GPUComputePassEncoder, buffers: Buffers${sizes}): void;
  /** Rejects with a GatherError (TC601) where a launch since the last check met an index out of range. */
  check(): Promise<void>;
`
    : ""
}  /** Lets go of ${gpu ? "the module's buffers; the device stays the caller's" : "the memory"}. Later calls are refused. */
  dispose(): void;
}

/**
 * Error of a module: \`code\` as in tilec's docs/diagnostics.md, \`data\` the numbers of the message by name.
 */
export declare class GatherError extends Error {
  readonly code: string;
  /** Output element of a TC601, and the number of its index operand that is at fault. */
  readonly point?: readonly number[];
  readonly site?: number;
  readonly data: Readonly<Record<string, unknown>>;
}
${
  gpu
    ? `
/** For \`requestDevice\`. */
export declare const requiredLimits: Record<string, number>;

/** Rejects with a GatherError: TC502 for a device below \`requiredLimits\`, TC504 for one that is lost. */
export declare function create(device: GPUDevice): Promise<Gather>;
`
    : `
export declare function create(): Promise<Gather>;
`
}`;
}

const printString = (operand: Operand): string => JSON.stringify(keyOf(operand));

/** Returns the head of the type of the outputs where an input is written in place. */
const outputsInPlace = (written: Operand): string =>
  `/** The array that was given as ${printString(written)}. */
export interface Outputs<Written extends Inputs[${printString(written)}] = Inputs[${printString(written)}]>`;

/** Returns the declaration of \`run\` where an input is written in place: its array is the output. */
const runInPlace = (written: Operand, sizes: string): string =>
  `run<Given extends Inputs>(inputs: Given${sizes}): Promise<{ readonly outputs: Outputs<Given[${printString(written)}]> }>`;

/**
 * Each by a member that all its declarations share: programs with the types of WebGPU merge them, and others
 * still type-check.
 */
const globals = `
declare global {
  interface GPUBuffer {
    readonly size: number;
  }
  interface GPUComputePassEncoder {
    label: string;
  }
  interface GPUDevice {
    label: string;
  }
}
`;
