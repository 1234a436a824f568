/** A side of bench:compile: the compiler of a build. */
import { cpuMs } from "./clocks.js";
import type { CompileLibrary } from "./library.js";
import type { ProgramDescription, SourceFunc } from "../src/index.js";

/** Steps that are timed for a program. */
export const compileSteps = ["compile", "compile and emit WGSL"] as const;
/** Name of a compile step that bench:compile measures. */
export type CompileStep = (typeof compileSteps)[number];

/** Compiler of one build, which bench:compile measures beside the compiler of another build. */
export interface CompileSide {
  /**
   * Takes the programs, and says which of them this build compiles: an older one may not know all operators.
   */
  load(programs: readonly ProgramDescription[]): Promise<readonly boolean[]>;
  /** Milliseconds of each of these programs, once. */
  pass(step: CompileStep, programs: readonly number[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

/**
 * Compiles a program for the `webgpu` target. Emits its WGSL too if the step includes it. The results are
 * discarded, since only the time matters.
 */
export function takeStep(library: CompileLibrary, func: SourceFunc, step: CompileStep): void {
  const { compile, defaultLimits, emitWgsl, targets } = library;
  const { tile } = compile(func, { target: targets.webgpu });
  // Limits are data: the largest shapes fit no device, and cost no more to emit.
  if (step === "compile and emit WGSL")
    emitWgsl(tile, {
      limits: { ...defaultLimits, maxStorageBufferBindingSize: 2 ** 53, maxBufferSize: 2 ** 53 },
    });
}

/** Returns the compiler of a build as one side of bench:compile. Times are CPU milliseconds. */
export function compileSide(library: CompileLibrary): CompileSide {
  let funcs: readonly (SourceFunc | undefined)[] = [];
  return {
    load(programs) {
      funcs = programs.map((description) => {
        try {
          const func = library.program(description);
          for (const step of compileSteps) takeStep(library, func, step);
          return func;
        } catch {
          return undefined;
        }
      });
      return Promise.resolve(funcs.map((func) => func !== undefined));
    },
    pass: (step, programs) =>
      Promise.resolve(
        programs.map((k) => {
          const func = funcs[k];
          if (func === undefined) throw new Error(`program ${k} does not compile`);
          const start = cpuMs();
          takeStep(library, func, step);
          return cpuMs() - start;
        }),
      ),
    close: () => Promise.resolve(),
  };
}
