/** A module as bytes: WebAssembly Core Specification 2.0, section 5 (binary format). */
import { at, assertNever } from "../../ir/types.js";
import {
  encodingOf,
  maxPages,
  type Instr,
  type Local,
  type PlainInstr,
  type WasmType,
  type WasmModule,
} from "./instructions.js";

const valueTypes: Readonly<Record<WasmType, number>> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, v128: 0x7b };
const emptyBlock = 0x40;
const end = 0x0b;

/** Encodes a module in the binary format of WebAssembly. */
export function encodeModule(module: WasmModule): Uint8Array<ArrayBuffer> {
  const { params, locals, result, memory } = module;
  const code: number[] = [];
  declarations(locals, params.length, code);
  instructions(module.body, code);
  code.push(end);
  const types = [1, 0x60, params.length, ...params.map((p) => valueTypes[p.type]), 1, valueTypes[result]];
  // Shared memories state a maximum; flags 1: has a maximum, 3: and is shared.
  const limits = memory.shared
    ? [3, ...unsigned(memory.pages), ...unsigned(maxPages)]
    : [0, ...unsigned(memory.pages)];
  const imports = [1, ...text("env"), ...text("memory"), 2, ...limits];
  const codeHead = [1, ...unsigned(code.length)];
  const head = [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(2, imports),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text(module.name), 0, 0]),
    ...[10, ...unsigned(codeHead.length + code.length), ...codeHead],
  ];
  const bytes = new Uint8Array(head.length + code.length);
  bytes.set(head);
  bytes.set(code, head.length);
  return bytes;
}

/**
 * Appends the declarations of a function's locals, without its parameters, to `out`. `params`: number of
 * parameters, which come first in `locals`. Neighbouring locals of one type are declared together, as a count
 * and the type.
 */
function declarations(locals: readonly Local[], params: number, out: number[]): void {
  const groups: { type: WasmType; count: number }[] = [];
  for (let k = params; k < locals.length; k++) {
    const { type } = at(locals, k);
    const last = groups[groups.length - 1];
    if (last?.type === type) last.count++;
    else groups.push({ type, count: 1 });
  }
  pushUnsigned(groups.length, out);
  for (const { type, count } of groups) {
    pushUnsigned(count, out);
    out.push(valueTypes[type]);
  }
}

const section = (id: number, body: readonly number[]): number[] => [id, ...unsigned(body.length), ...body];

function text(value: string): number[] {
  const bytes = new TextEncoder().encode(value);
  return [...unsigned(bytes.length), ...bytes];
}

function instructions(body: readonly Instr[], out: number[]): void {
  for (const instr of body) instruction(instr, out);
}

/** Appends the bytes of an instruction and of all nested instructions to `out`. */
function instruction(instr: Instr, out: number[]): void {
  if ("args" in instr) {
    plainInstruction(instr, out);
    return;
  }
  switch (instr.op) {
    case "comment":
      return;
    case "block":
      out.push(0x02, emptyBlock);
      instructions(instr.body, out);
      break;
    case "loop":
      out.push(0x03, emptyBlock);
      instructions(instr.body, out);
      break;
    case "if":
      out.push(0x04, emptyBlock);
      instructions(instr.then, out);
      if (instr.otherwise.length > 0) {
        out.push(0x05);
        instructions(instr.otherwise, out);
      }
      break;
    default:
      assertNever(instr);
  }
  out.push(end);
}

/** Appends the opcode and the immediates of an instruction to `out`. */
function plainInstruction({ op, args }: PlainInstr, out: number[]): void {
  const { code, immediate } = encodingOf(op);
  for (const byte of code) out.push(byte);
  switch (immediate) {
    case "none":
      return;
    case "local":
    case "label":
      pushUnsigned(Number(at(args, 0)), out);
      return;
    case "const":
      pushSigned(Number(at(args, 0)), out);
      return;
    case "const64":
      pushSignedWide(BigInt(at(args, 0)), out);
      return;
    case "const128":
      for (const word of args)
        for (let byte = 0; byte < 4; byte++) out.push((Number(word) >>> (8 * byte)) & 0xff);
      return;
    // Alignment is a hint as a power of two; 0 promises nothing.
    case "memory":
      out.push(0);
      pushUnsigned(Number(at(args, 0)), out);
      return;
    case "lane":
      out.push(Number(at(args, 0)));
      return;
    case "memory and lane":
      out.push(0);
      pushUnsigned(Number(at(args, 0)), out);
      out.push(Number(at(args, 1)));
      return;
    case "copy":
      out.push(0, 0);
      return;
    case "fill":
      out.push(0);
      return;
    default:
      assertNever(immediate);
  }
}

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  pushUnsigned(value, bytes);
  return bytes;
}

/** Appends a non-negative integer to `out` in unsigned LEB128, WebAssembly's variable-length encoding. */
function pushUnsigned(value: number, out: number[]): void {
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    out.push(rest > 0 ? low | 0x80 : low);
  } while (rest > 0);
}

/** Appends a 32-bit integer to `out` in signed LEB128, WebAssembly's variable-length encoding. */
function pushSigned(value: number, out: number[]): void {
  let rest = value;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const done = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
    out.push(done ? low : low | 0x80);
    if (done) return;
  }
}

/** Appends an integer of up to 64 bits to `out` in signed LEB128, WebAssembly's variable-length encoding. */
function pushSignedWide(value: bigint, out: number[]): void {
  let rest = value;
  for (;;) {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    const done = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0);
    out.push(done ? low : low | 0x80);
    if (done) return;
  }
}
