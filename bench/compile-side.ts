/** A side of bench:compile: the compiler of a build. */
import { cpuMs } from "./clocks.js";
import type { CompileLibrary } from "./library.js";
import type { ProgramDescription, SourceFunc } from "../src/index.js";

/** Names of the compile steps that bench:compile measures. The second step includes the first. */
export const compileSteps = ["compile", "compile and emit WGSL"] as const;
/** Name of a compile step that bench:compile measures; see {@link compileSteps}. */
export type CompileStep = (typeof compileSteps)[number];

/**
 * Compiler of one of the two builds that bench:compile compares: loads programs and measures the times to
 * compile them.
 */
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
 * Compiles a program for the `webgpu` target and, if the step includes it, emits the WGSL. The results are
 * discarded, because only the time matters. Throws if the program does not compile.
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

/**
 * Returns the compiler of a build in the form that bench:compile compares with another build. Its times are
 * in milliseconds of CPU time.
 */
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
