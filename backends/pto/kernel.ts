/**
 * Output of a PTO-ISA emitter for a toolchain: text, parameters, and the blocks that the host launches. All
 * of it is plain data.
 */
import type { Role } from "../../ir/func.js";
import type { ElementCondition } from "../ascend-answer.js";

/** Parameter of a PTO-ISA kernel. Lists of parameters are in the order of the kernel's signature. */
export interface PtoParam {
  readonly name: string;
  /**
   * `output`: also of an input that is written in place; no other parameter then is the output. `status`: an `int32_t` for each block, cleared by the host; 1 where a block met an index out of range.
   */
  readonly role: Role | "status";
  /** C++ type of the words that the parameter points to. */
  readonly word: string;
}

/** Buffer of a kernel in the unified buffer (UB): the name, and the address and bytes of each copy. */
export interface PtoBuffer {
  readonly name: string;
  /** Byte address of each copy. */
  readonly addresses: readonly number[];
  /** Bytes of one copy. */
  readonly bytes: number;
}

/** Tile program as PTO-ISA C++, with the data that a host needs to launch the kernel (docs/pto.md). */
export interface PtoKernel {
  /** One C++ translation unit. */
  readonly code: string;
  readonly entryPoint: string;
  /**
   * Entry point with the same parameters that looks at the index values and writes nothing but the status.
   * The host launches it first, and the other one only where the status stays 0. Present where a program
   * writes in place and index values may be rejected.
   */
  readonly checkEntryPoint?: string;
  /** Blocks that the host must launch: no more, no fewer. 0 for an output without elements. */
  readonly blocks: number;
  readonly params: readonly PtoParam[];
  /** Buffers of the program, then the buffers that the lowering adds. */
  readonly buffers: readonly PtoBuffer[];
  /** Bytes of unified buffer up to the end of the last buffer. */
  readonly ubPeak: number;
  /**
   * Under what conditions on the elements that enter a computation a machine gives the stated bits. Empty:
   * under all.
   */
  readonly assumes: readonly ElementCondition[];
}
