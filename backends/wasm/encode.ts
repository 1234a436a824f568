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
  const code = vector(own);
  instructions(module.body, code);
  code.push(end);
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

function instructions(body: readonly Instr[], out: number[]): void {
  for (const instr of body) instruction(instr, out);
}

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

function plainInstruction({ op, args }: PlainInstr, out: number[]): void {
  const { code, immediate } = encodingOf(op);
  out.push(...code);
  switch (immediate) {
    case "none":
      return;
    case "local":
    case "label":
      pushUnsigned(Number(at(args, 0)), out);
      return;
    case "const":
    case "const64":
      pushSigned(BigInt(at(args, 0)), out);
      return;
    // Alignment is a hint as a power of two; 0 promises nothing.
    case "memory":
      out.push(0);
      pushUnsigned(Number(at(args, 0)), out);
      return;
    case "lane":
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

/** LEB128. */
function pushUnsigned(value: number, out: number[]): void {
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    out.push(rest > 0 ? low | 0x80 : low);
  } while (rest > 0);
}

function pushSigned(value: bigint, out: number[]): void {
  let rest = value;
  for (;;) {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    const done = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0);
    out.push(done ? low : low | 0x80);
    if (done) return;
  }
}
