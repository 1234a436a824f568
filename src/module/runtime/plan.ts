/**
 * Facts that a module holds about its gather, as the compiler prints them: numbers, and functions of the
 * dynamic sizes.
 */
import type { Reduced } from "../../../ir/access.js";
import type { IndexFunction, Numbers } from "../../../backends/bad-index.js";
import type { DType } from "../../../ir/types.js";
import type { KernelStep, WgslBinding } from "../../../backends/wgsl/index.js";

/** Operand of a module: one of the inputs, or the output, which comes last. */
export interface ModuleOperand {
  /** Key by which callers name the operand. `name` is its name in the program, if that is different. */
  readonly key: string;
  readonly name?: string;
  /** Element type, such as `f32`, for messages. */
  readonly dtype: DType;
  /**
   * Name of the typed-array class for the operand. An element of the array is an element of the operand, or a
   * component of a complex element.
   */
  readonly array: string;
  /** Bits of an element. */
  readonly bits: number;
  /** True if packed elements are signed: bit patterns in the upper half are negative. */
  readonly signed?: boolean;
  readonly shape: (numbers: Numbers) => readonly number[];
}

/**
 * Description of a compiled module for the runtime, with the fields common to WebGPU and WebAssembly modules.
 */
export interface ModulePlan {
  readonly name: string;
  readonly symbols?: readonly { readonly name: string; readonly most: number }[];
  readonly numbers?: (sizes: Numbers) => Numbers;
  /** Operands of the program: the inputs, then the output. */
  readonly operands: readonly ModuleOperand[];
  /** Index operands as functions, to find a rejected index value; empty if the kernel rejects none. */
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
  /** Purpose of a buffer of a scatter that is no operand. */
  readonly role?: "status" | "owner";
  /** Absent: it is read. */
  readonly access?: Exclude<WgslBinding["access"], "read">;
  /** 32-bit words of one access; 1 where it is absent. */
  readonly width?: number;
  /** Returns the bytes of a buffer that is no operand, of a scatter with dynamic sizes. */
  readonly bytes?: (numbers: Numbers) => number;
}

/**
 * Description of a compiled WebGPU module for the runtime: shader code, bindings and required device limits.
 */
export interface GpuPlan extends ModulePlan {
  readonly code: string;
  /** Bindings of the operands, then of the status word and of the sizes, if the kernel has these. */
  readonly bindings: readonly ModuleBinding[];
  readonly requiredLimits: Numbers;
}

/**
 * Description of a WebGPU module with static sizes. `dispatch` has the numbers of workgroups, `bytes` the
 * size of each binding in bytes.
 */
export interface FixedPlan extends GpuPlan {
  readonly dispatch: readonly [number, number, number];
  readonly bytes: readonly number[];
}

/**
 * Index value that a point of a scatter reads. The value determines the element to write, or the value that
 * is written.
 */
export interface ScatterIndex extends IndexFunction {
  /**
   * Numbers (0-based) of the index values from which the coordinates of this index value are computed.
   * Present only if this index value determines the written value, but not the element to write. If a listed
   * index value selects no element, the point writes the fill bits.
   */
  readonly needs?: readonly number[];
}

/**
 * Description of a compiled scatter module for the runtime. `sites` has the index values that each point
 * reads.
 */
export interface ScatterPlan extends ModulePlan {
  readonly sites: readonly ScatterIndex[];
  /** Returns the extents of the scatter's domain. */
  readonly points: (numbers: Numbers) => readonly number[];
  /** True if the caller promises that no two points write one element, and no point is skipped. */
  readonly isUnique?: boolean;
  /** True if the scatter writes into the first input, which is then also the output. */
  readonly inPlace: boolean;
}

/** Description of a compiled WebGPU scatter module with static sizes, for the runtime. */
export interface GpuScatterPlan extends ScatterPlan, FixedPlan {
  readonly sites: readonly ScatterIndex[];
  /** Kernel launches that precede the last launch, in order. */
  readonly before: readonly KernelStep[];
}

/** Description of a compiled WebGPU scatter module with dynamic sizes, for the runtime. */
export interface DynamicScatterPlan extends ScatterPlan, GpuPlan {
  readonly sites: readonly ScatterIndex[];
  /** Kernel launches that precede the last launch, in order. */
  readonly before: readonly Pick<KernelStep, "entryPoint">[];
  /** Returns the number of workgroups of each launch, the last one included. */
  readonly groups: (numbers: Numbers) => readonly number[];
  /** Bytes of the array of owners for the largest sizes. */
  readonly ownerBytes?: number;
  /** Names of the runtime parameters in the uniform buffer, in order. */
  readonly told: readonly string[];
}

/** Iterations of each parallel loop. */
interface Nest {
  readonly trips: (numbers: Numbers) => readonly number[];
}

/**
 * Description of a compiled WebGPU module with dynamic sizes, for the runtime. `trips` returns the number of
 * iterations of each parallel loop for given sizes.
 */
export interface DynamicPlan extends GpuPlan, Nest {
  readonly folded: boolean;
  /** Names of the runtime parameters in the uniform buffer, in order. */
  readonly told: readonly string[];
}

/**
 * Description of a compiled WebAssembly module for the runtime: the code, the bytes of the unified buffer
 * (UB), and the names of the runtime parameters.
 */
export interface CpuPlan extends ModulePlan, Nest {
  /** WebAssembly module in base64. */
  readonly code: string;
  /** Bytes of the unified buffer. */
  readonly bufferBytes: number;
  /** Names of the parameters of the WebAssembly function after the first three. */
  readonly told: readonly string[];
}

/** Description of a compiled WebAssembly scatter module for the runtime. */
export interface CpuScatterPlan extends ScatterPlan, CpuPlan {
  readonly sites: readonly ScatterIndex[];
  /**
   * Facts by which duplicate writes are detected; present only if a run with duplicate writes is rejected.
   */
  readonly duplicates?: {
    /** Returns the extents of a domain that has a duplicate write exactly if the whole domain has one. */
    readonly telling: (numbers: Numbers) => readonly number[];
    /**
     * Returns the row-major position of the element that a point writes. `d` has the coordinates of the
     * point, and `s` the elements that its index values select.
     */
    readonly written: (d: readonly bigint[], s: readonly bigint[], numbers: Numbers) => bigint;
  };
}
