/** What a module says of its gather, as the compiler prints it: numbers, and functions of the sizes that it leaves open. */
import type { Reduced } from "../../../ir/access.js";
import type { IndexFunction, Numbers } from "../../../backends/bad-index.js";
import type { DType } from "../../../ir/types.js";
import type { WgslBinding } from "../../../backends/wgsl/index.js";

/** An input, or the output, which is the last. */
export interface ModuleOperand {
  /** What callers call it, and its name in the program where that is another. */
  readonly key: string;
  readonly name?: string;
  /** `f32`, for messages. */
  readonly dtype: DType;
  /** Of an element, or of a part of a complex one. */
  readonly array: string;
  /** Of an element. */
  readonly bits: number;
  /** Of packed elements: whether they are negative above half. */
  readonly signed?: boolean;
  readonly shape: (numbers: Numbers) => readonly number[];
}

/** What every module has. */
export interface ModulePlan {
  readonly name: string;
  readonly symbols?: readonly { readonly name: string; readonly most: number }[];
  readonly numbers?: (sizes: Numbers) => Numbers;
  /** The inputs, then the output. */
  readonly operands: readonly ModuleOperand[];
  /** Empty for a kernel that rejects no index. */
  readonly sites: readonly IndexFunction[];
  /**
   * Output dims that some index value follows, of an output that may be empty. Absent where no index is
   * rejected.
   */
  readonly indexed?: readonly number[];
  readonly reduced?: Reduced;
}

/** A buffer that the kernel binds. */
interface ModuleBinding {
  /** Absent: it is read. */
  readonly access?: Exclude<WgslBinding["access"], "read">;
  /** 32-bit words of one access; 1 where it is absent. */
  readonly width?: number;
}

/** A module for WebGPU. */
export interface GpuPlan extends ModulePlan {
  readonly code: string;
  /** Of the operands, then of the status word and of the sizes, where there are such. */
  readonly bindings: readonly ModuleBinding[];
  readonly requiredLimits: Numbers;
}

/** One whose sizes are numbers: its dispatch, and the bytes of its bindings. */
export interface FixedPlan extends GpuPlan {
  readonly dispatch: readonly [number, number, number];
  readonly bytes: readonly number[];
}

/** Iterations of each parallel loop. */
interface Nest {
  readonly trips: (numbers: Numbers) => readonly number[];
}

/** One whose sizes are open. */
export interface DynamicPlan extends GpuPlan, Nest {
  readonly folded: boolean;
  /** Names of what the uniform buffer holds. */
  readonly told: readonly string[];
}

/** A module for WebAssembly. */
export interface CpuPlan extends ModulePlan, Nest {
  /** Of the module, in base 64. */
  readonly code: string;
  /** Bytes of the unified buffer. */
  readonly bufferBytes: number;
  /** Names of the parameters behind the first three. */
  readonly told: readonly string[];
}
