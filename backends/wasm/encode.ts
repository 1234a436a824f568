/** A module as bytes: WebAssembly Core Specification 2.0, section 5 (binary format). */
import { at, assertNever } from "../../ir/types.js";
import {
  encodingOf,
  maxPages,
  type Instr,
  type PlainInstr,
  type ValueType,
  type WasmModule,
} from "./instructions.js";

const valueTypes: Readonly<Record<ValueType, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b };
const emptyBlock = 0x40;
const end = 0x0b;

export function encodeModule(module: WasmModule): Uint8Array<ArrayBuffer> {
  const { params, locals, result, memory } = module;
  const types = [1, 0x60, ...vector(params.map((p) => [valueTypes[p.type]])), 1, valueTypes[result]];
  // Shared memories state a maximum; flags 1: has a maximum, 3: and is shared.
  const limits = memory.shared
    ? [3, ...unsigned(memory.pages), ...unsigned(maxPages)]
    : [0, ...unsigned(memory.pages)];
  const imports = [1, ...text("env"), ...text("memory"), 2, ...limits];
  const own = groups(locals.slice(params.length).map((local) => local.type));
  const code = [...vector(own), ...instructions(module.body), end];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(2, imports),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text(module.name), 0, 0]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ]);
}

/** Neighbours of one type are declared together: a count and the type. */
function groups(types: readonly ValueType[]): number[][] {
  const found: { type: ValueType; count: number }[] = [];
  for (const type of types) {
    const last = found[found.length - 1];
    if (last?.type === type) last.count++;
    else found.push({ type, count: 1 });
  }
  return found.map(({ type, count }) => [...unsigned(count), valueTypes[type]]);
}

const section = (id: number, body: readonly number[]): number[] => [id, ...unsigned(body.length), ...body];

const vector = (items: readonly (readonly number[])[]): number[] => [
  ...unsigned(items.length),
  ...items.flat(),
];

function text(value: string): number[] {
  const bytes = new TextEncoder().encode(value);
  return [...unsigned(bytes.length), ...bytes];
}

const instructions = (body: readonly Instr[]): number[] => body.flatMap(instruction);

function instruction(instr: Instr): number[] {
  if ("args" in instr) return plainInstruction(instr);
  switch (instr.op) {
    case "comment":
      return [];
    case "block":
      return [0x02, emptyBlock, ...instructions(instr.body), end];
    case "loop":
      return [0x03, emptyBlock, ...instructions(instr.body), end];
    case "if": {
      const otherwise = instr.otherwise.length === 0 ? [] : [0x05, ...instructions(instr.otherwise)];
      return [0x04, emptyBlock, ...instructions(instr.then), ...otherwise, end];
    }
    default:
      return assertNever(instr);
  }
}

function plainInstruction({ op, args }: PlainInstr): number[] {
  const { code, immediate } = encodingOf(op);
  switch (immediate) {
    case "none":
      return [...code];
    case "local":
    case "label":
      return [...code, ...unsigned(Number(at(args, 0)))];
    case "const":
    case "const64":
      return [...code, ...signed(BigInt(at(args, 0)))];
    // Alignment is a hint as a power of two; 0 promises nothing.
    case "memory":
      return [...code, 0, ...unsigned(Number(at(args, 0)))];
    case "copy":
      return [...code, 0, 0];
    case "fill":
      return [...code, 0];
    default:
      return assertNever(immediate);
  }
}

/** LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low | 0x80 : low);
  } while (rest > 0);
  return bytes;
}

function signed(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    const done = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0);
    bytes.push(done ? low : low | 0x80);
    if (done) return bytes;
  }
}
