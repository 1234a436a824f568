/** A side of bench:compile: the compiler of a build. */
import { cpuMs } from "./clocks.js";
import type { CompileLibrary } from "./library.js";
import type { ProgramDescription, SourceFunc } from "../src/index.js";

/**
 * Passes over all programs before those that count: V8 optimizes the compiler anew while it meets other kinds
 * of gathers, and the CPU time of a process includes that.
 */
export const warmUpPasses = 15;

/** Names of the compile steps that bench:compile measures. Emitting WGSL includes compiling. */
export const compileSteps = ["compile", "compile and emit WGSL"] as const;
/** Name of a compile step that bench:compile measures; see {@link compileSteps}. */
export type CompileStep = (typeof compileSteps)[number];

/**
 * Object that loads programs and measures compile times in one of the two tilec builds that bench:compile
 * compares.
 */
export interface CompileSide {
  /**
   * Loads the programs and resolves to one boolean for each: true if the build compiles the program. An older
   * build may lack the operator of a program.
   */
  load(programs: readonly ProgramDescription[]): Promise<readonly boolean[]>;
  /**
   * Runs the compile step once on each program in `programs`, which has indices of the loaded programs.
   * Resolves to the milliseconds of each program, in the same order.
   */
  pass(step: CompileStep, programs: readonly number[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

/**
 * Compiles a program for the `webgpu` target and, depending on the step, emits the WGSL. The results are
 * discarded. Throws if the program does not compile.
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
 * Returns an object that measures the compile times of one tilec build, in milliseconds of CPU time.
 * `library` is the API of the build.
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
