/**
 * The instructions of WebAssembly that kernels use, by their names in the text format.
 *
 * Opcodes: WebAssembly Core Specification 2.0, section 5.4 (binary format).
 */

import type { Stmt } from "../../ir/tile.js";

/**
 * Kind of the immediate operands of an opcode. `copy` and `fill`: the memory indices of `memory.copy` and
 * `memory.fill`.
 */
export type Immediate =
  | "none"
  | "local"
  | "label"
  | "const"
  | "const64"
  | "const128"
  | "memory"
  | "lane"
  | "memory and lane"
  | "copy"
  | "fill";

interface Encoding {
  readonly code: readonly number[];
  readonly immediate: Immediate;
}

const plain = (...code: number[]): Encoding => ({ code, immediate: "none" });
const memory = (...code: number[]): Encoding => ({ code, immediate: "memory" });
const lane = (...code: number[]): Encoding => ({ code, immediate: "lane" });
const memoryAndLane = (...code: number[]): Encoding => ({ code, immediate: "memory and lane" });
const simd = 0xfd;

/**
 * Opcode and kind of immediate operand of each WebAssembly instruction that kernels use, by the name in the
 * text format.
 */
const encodings = {
  br: { code: [0x0c], immediate: "label" },
  br_if: { code: [0x0d], immediate: "label" },
  select: plain(0x1b),
  "local.get": { code: [0x20], immediate: "local" },
  "local.set": { code: [0x21], immediate: "local" },
  "local.tee": { code: [0x22], immediate: "local" },
  "i32.load": memory(0x28),
  "i64.load": memory(0x29),
  "f32.load": memory(0x2a),
  "i32.load8_s": memory(0x2c),
  "i32.load8_u": memory(0x2d),
  "i32.load16_s": memory(0x2e),
  "i32.load16_u": memory(0x2f),
  "i32.store": memory(0x36),
  "i64.store": memory(0x37),
  "i32.store8": memory(0x3a),
  "i32.store16": memory(0x3b),
  "i32.const": { code: [0x41], immediate: "const" },
  "i64.const": { code: [0x42], immediate: "const64" },
  "i32.eqz": plain(0x45),
  "i32.eq": plain(0x46),
  "i32.ne": plain(0x47),
  "i32.lt_s": plain(0x48),
  "i32.lt_u": plain(0x49),
  "i32.gt_s": plain(0x4a),
  "i32.gt_u": plain(0x4b),
  "i32.ge_s": plain(0x4e),
  "i32.ge_u": plain(0x4f),
  "i64.eqz": plain(0x50),
  "i64.lt_s": plain(0x53),
  "i64.lt_u": plain(0x54),
  "i64.ge_s": plain(0x59),
  "i64.ge_u": plain(0x5a),
  "f32.eq": plain(0x5b),
  "i32.add": plain(0x6a),
  "i32.sub": plain(0x6b),
  "i32.mul": plain(0x6c),
  "i32.div_u": plain(0x6e),
  "i32.rem_u": plain(0x70),
  "i32.and": plain(0x71),
  "i32.or": plain(0x72),
  "i32.xor": plain(0x73),
  "i32.shl": plain(0x74),
  "i32.shr_s": plain(0x75),
  "i32.shr_u": plain(0x76),
  "i64.add": plain(0x7c),
  "i64.sub": plain(0x7d),
  "i64.mul": plain(0x7e),
  "i64.rem_s": plain(0x81),
  "i64.div_u": plain(0x80),
  "i64.rem_u": plain(0x82),
  "i64.and": plain(0x83),
  "i64.or": plain(0x84),
  "i64.xor": plain(0x85),
  "i64.shl": plain(0x86),
  "i64.shr_s": plain(0x87),
  "i64.shr_u": plain(0x88),
  "f32.add": plain(0x92),
  "f32.sub": plain(0x93),
  "f32.mul": plain(0x94),
  "f32.div": plain(0x95),
  "f32.min": plain(0x96),
  "f32.max": plain(0x97),
  "f64.mul": plain(0xa2),
  "i32.wrap_i64": plain(0xa7),
  "i64.extend_i32_s": plain(0xac),
  "i64.extend_i32_u": plain(0xad),
  "f32.convert_i32_s": plain(0xb2),
  "f32.convert_i32_u": plain(0xb3),
  "i32.reinterpret_f32": plain(0xbc),
  "f32.reinterpret_i32": plain(0xbe),
  "f32.convert_i64_s": plain(0xb4),
  "f64.promote_f32": plain(0xbb),
  "f64.reinterpret_i64": plain(0xbf),
  "i32.trunc_sat_f32_s": plain(0xfc, 0),
  "i32.trunc_sat_f32_u": plain(0xfc, 1),
  "i64.trunc_sat_f64_s": plain(0xfc, 6),
  "memory.copy": { code: [0xfc, 10], immediate: "copy" },
  "memory.fill": { code: [0xfc, 11], immediate: "fill" },
  "v128.load": memory(simd, 0),
  "v128.load8x8_s": memory(simd, 1),
  "v128.load8x8_u": memory(simd, 2),
  "v128.load16x4_s": memory(simd, 3),
  "v128.load16x4_u": memory(simd, 4),
  "v128.load8_splat": memory(simd, 7),
  "v128.load16_splat": memory(simd, 8),
  "v128.load32_splat": memory(simd, 9),
  "v128.load64_splat": memory(simd, 10),
  "v128.store": memory(simd, 11),
  "v128.const": { code: [simd, 12], immediate: "const128" },
  "v128.load8_lane": memoryAndLane(simd, 84),
  "v128.load16_lane": memoryAndLane(simd, 85),
  "v128.load32_lane": memoryAndLane(simd, 86),
  "v128.load64_lane": memoryAndLane(simd, 87),
  "v128.and": plain(simd, 78),
  "v128.or": plain(simd, 80),
  "v128.xor": plain(simd, 81),
  "v128.bitselect": plain(simd, 82),
  "i8x16.narrow_i16x8_s": plain(simd, 101),
  "i8x16.narrow_i16x8_u": plain(simd, 102),
  "i16x8.narrow_i32x4_s": plain(simd, 0x85, 0x01),
  "i16x8.narrow_i32x4_u": plain(simd, 0x86, 0x01),
  "i32x4.splat": plain(simd, 17),
  "i32x4.eq": plain(simd, 55),
  "i32x4.ne": plain(simd, 56),
  "i32x4.lt_s": plain(simd, 57),
  "i32x4.gt_s": plain(simd, 59),
  "i32x4.le_u": plain(simd, 62),
  "i32x4.all_true": plain(simd, 0xa3, 0x01),
  "i32x4.bitmask": plain(simd, 0xa4, 0x01),
  "i32x4.extend_low_i16x8_s": plain(simd, 0xa7, 0x01),
  "i32x4.extend_high_i16x8_s": plain(simd, 0xa8, 0x01),
  "i32x4.extend_low_i16x8_u": plain(simd, 0xa9, 0x01),
  "i32x4.extend_high_i16x8_u": plain(simd, 0xaa, 0x01),
  "i32x4.shl": plain(simd, 0xab, 0x01),
  "i32x4.shr_s": plain(simd, 0xac, 0x01),
  "i32x4.shr_u": plain(simd, 0xad, 0x01),
  "i32x4.add": plain(simd, 0xae, 0x01),
  "i32x4.sub": plain(simd, 0xb1, 0x01),
  "i32x4.mul": plain(simd, 0xb5, 0x01),
  "i32x4.min_s": plain(simd, 0xb6, 0x01),
  "i32x4.min_u": plain(simd, 0xb7, 0x01),
  "i32x4.max_s": plain(simd, 0xb8, 0x01),
  "i32x4.max_u": plain(simd, 0xb9, 0x01),
  "i32x4.trunc_sat_f32x4_s": plain(simd, 0xf8, 0x01),
  "i32x4.trunc_sat_f32x4_u": plain(simd, 0xf9, 0x01),
  "i32x4.extract_lane": lane(simd, 27),
  "i32x4.replace_lane": lane(simd, 28),
  "f32x4.splat": plain(simd, 19),
  "f32x4.eq": plain(simd, 65),
  "f32x4.add": plain(simd, 0xe4, 0x01),
  "f32x4.sub": plain(simd, 0xe5, 0x01),
  "f32x4.mul": plain(simd, 0xe6, 0x01),
  "f32x4.div": plain(simd, 0xe7, 0x01),
  "f32x4.min": plain(simd, 0xe8, 0x01),
  "f32x4.max": plain(simd, 0xe9, 0x01),
  "f32x4.convert_i32x4_s": plain(simd, 0xfa, 0x01),
  "f32x4.convert_i32x4_u": plain(simd, 0xfb, 0x01),
  "i64x2.shr_s": plain(simd, 0xcc, 0x01),
  "i64x2.add": plain(simd, 0xce, 0x01),
} as const satisfies Readonly<Record<string, Encoding>>;

/** Name, in the text format, of an instruction without nested instructions. */
export type PlainOp = keyof typeof encodings;

/** Returns the opcode of an instruction and the kind of the immediate operand. */
export const encodingOf = (op: PlainOp): Encoding => encodings[op];

/** Type of a WebAssembly value. */
export type WasmType = "i32" | "i64" | "f32" | "v128";

/** Local variable of a WebAssembly function. */
export interface Local {
  readonly name: string;
  readonly type: WasmType;
}

/** Instruction without nested instructions, with the immediate operands. */
export interface PlainInstr {
  readonly op: PlainOp;
  readonly args: readonly (number | bigint)[];
}

/**
 * Instruction of a function body. Blocks, loops and `if` contain nested instructions; comments appear only in
 * the text format.
 */
export type Instr =
  | PlainInstr
  | { readonly op: "block" | "loop"; readonly body: readonly Instr[] }
  | { readonly op: "if"; readonly then: readonly Instr[]; readonly otherwise: readonly Instr[] }
  /**
   * Comment in the text format with a statement of the tile program. The instructions of the statement, if
   * any, follow it.
   */
  | { readonly op: "comment"; readonly stmt: Stmt };

/** WebAssembly module with one function and one imported memory, `env.memory`. */
export interface WasmModule {
  readonly name: string;
  readonly params: readonly Local[];
  readonly result: WasmType;
  /** Params first. */
  readonly locals: readonly Local[];
  readonly body: readonly Instr[];
  readonly memory: { readonly pages: number; readonly shared: boolean };
}

/** Size of a page of WebAssembly memory, in bytes. */
export const pageBytes = 65536;
/** Maximum number of pages of a 32-bit memory: 4 GiB. */
export const maxPages = 65536;
