/** A program to a kernel: runs the default pipeline from whatever level the program is at. */
import {
  findTarget,
  flatten,
  error,
  CompileError,
  defaultTarget,
  hasErrors,
  levels as everyLevel,
  printFunc,
  resolveSource,
  targetNames,
  throwIfErrors,
  type AccessFunc,
  type Diagnostic,
  type Footprint,
  type Func,
  type Level,
  type Property,
  type Resolved,
  type Schedule,
  type SourceFunc,
  type Target,
  type TileFunc,
  verify,
  webgpu,
} from "../../ir/index.js";
import { callable, oneOf, wholeNumber, yesOrNo, type Fields } from "../../backends/index.js";
import { defaultLimits, emitWgsl, type WgslKernel, type WgslLimits } from "../../backends/webgpu/index.js";
import { isResolved } from "../../ir/schedule.js";
import {
  defaultPipeline,
  footprintOf,
  runPipeline,
  type Pass,
  type PipelineOptions,
} from "../../passes/index.js";
import { checkOptions, checkProgram, scheduleFields, targetField } from "./check-options.js";

export interface CompileOptions extends Schedule, PipelineOptions {
  /** Overrides the target that the program names. */
  readonly target?: Target;
  /** Resolves a target by name; built-in targets by default. */
  readonly findTarget?: (name: string) => Target | undefined;
}

const limitFields = Object.fromEntries(
  Object.keys(defaultLimits).map((name) => [name, wholeNumber(1)]),
) as Fields<WgslLimits>;

const compileFields: Fields<CompileOptions> = {
  ...scheduleFields,
  target: targetField,
  findTarget: callable,
  afterPass: callable,
  verifyEach: yesOrNo,
};

/** What of a program and its options no rule can judge: another kind of value than they take. */
export const checkCompile = (program: unknown, options: unknown): Diagnostic[] => [
  ...checkProgram(program),
  ...checkOptions("compile", options, compileFields),
];

/** A compiled gather: the IR at each level it went through, and what the rules said. Plain data. */
export interface Kernel {
  readonly name: string;
  readonly target: Target;
  /** Absent when the program began below that level. */
  readonly source?: SourceFunc;
  readonly access?: AccessFunc;
  readonly tile: TileFunc;
  /** The dialect-free operator, for `reference`. */
  readonly resolved?: Resolved;
  /** UB bytes by operand; absent for a program that began at the tile level. */
  readonly footprint?: Footprint;
  /** Warnings and hints. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * The kernel for a WebGPU target: this one when it was compiled for WebGPU, else the program compiled again with its
   * tile kept where legal. Throws a CompileError (TC502) for a tile program of another target.
   */
  forTarget(target: Target): Kernel;
  /** WGSL, bindings and dispatch for any limits; no device is needed. */
  wgsl(limits?: WgslLimits): WgslKernel;
  /** The program as text at one level. Throws a CompileError (TC702) for a level it never was at. */
  text(level: Level): string;
}

export type CompileResult =
  | { readonly ok: true; readonly kernel: Kernel }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Throws a CompileError with every diagnostic when the program or its schedule is not legal. */
export function compile(program: Func, options: CompileOptions = {}): Kernel {
  const result = tryCompile(program, options);
  if (!result.ok) throw new CompileError(result.diagnostics);
  return result.kernel;
}

export function tryCompile(program: Func, options: CompileOptions = {}): CompileResult {
  const wrong = checkCompile(program, options);
  if (wrong.length > 0) return { ok: false, diagnostics: wrong };
  const targeted = targetOf(program, options);
  if (!targeted.ok) return targeted;
  const { target } = targeted;
  const input = scheduled(program, options, target);
  const levels = new Map<Level, Func>([[input.level, input]]);
  const { func, diagnostics } = runPipeline(input, passesFrom(input, defaultPipeline), target, {
    ...(options.verifyEach === undefined ? {} : { verifyEach: options.verifyEach }),
    afterPass(pass, before, after, milliseconds) {
      levels.set(after.level, after);
      options.afterPass?.(pass, before, after, milliseconds);
    },
  });
  if (hasErrors(diagnostics) || func.level !== "tile") return { ok: false, diagnostics };
  // Addresses and syncs that the user wrote are the user's to get right.
  const written = input.level === "tile" ? firstBroken(func, target) : [];
  if (written.length > 0) return { ok: false, diagnostics: [...diagnostics, ...written] };
  const source = levels.get("source");
  const access = levels.get("access");
  const resolved = source?.level === "source" ? resolvedOf(source) : undefined;
  const footprint =
    access?.level === "access" && isResolved(access.schedule)
      ? footprintOf(access, access.schedule, target)
      : undefined;
  const kernel: Kernel = {
    name: func.name,
    target,
    ...(source?.level === "source" ? { source } : {}),
    ...(access?.level === "access" ? { access } : {}),
    tile: func,
    ...(resolved === undefined ? {} : { resolved }),
    ...(footprint === undefined ? {} : { footprint }),
    diagnostics,
    forTarget: (device) => forDevice(kernel, device),
    wgsl(limits = defaultLimits) {
      throwIfErrors(
        checkOptions("wgsl", limits, limitFields, { open: true, needs: Object.keys(limitFields) }),
      );
      const { tile, target } = forDevice(kernel, webgpu);
      return emitWgsl(tile, { limits, target });
    },
    text(level) {
      throwIfErrors(checkOptions("text", { level }, { level: oneOf(everyLevel) }));
      const at = levels.get(level);
      if (at === undefined) {
        throw new CompileError([
          error("TC702", `@${func.name} began below the ${level} level; it has no such text`),
        ]);
      }
      return printFunc(at);
    },
  };
  return { ok: true, kernel };
}

function firstBroken(func: TileFunc, target: Target): readonly Diagnostic[] {
  const allocated = verify(func, "allocated", target);
  return allocated.length > 0 ? allocated : verify(func, "synchronized", target);
}

/** The passes that still apply: a tile program keeps the addresses, and the syncs, that it already has. */
export function passesFrom(func: Func, pipeline: readonly Pass[]): readonly Pass[] {
  if (func.level === "source") return pipeline;
  if (func.level === "access") return pipeline.filter((pass) => !pass.requires.includes("source"));
  const allocated = func.body.some((stmt) => stmt.op === "alloc" && stmt.buffer.addresses !== undefined);
  const staged = func.body.some((stmt) => stmt.op === "alloc");
  const missing: Property = !allocated ? "tile" : "allocated";
  if (!staged || flatten(func.body).some((stmt) => stmt.op === "sync")) return [];
  return pipeline.slice(pipeline.findIndex((pass) => pass.requires.includes(missing)));
}

/** The target a program compiles for. Throws a CompileError (TC501) when nobody knows its name. */
export function resolveTargetOf(program: Func, options: CompileOptions): Target {
  const found = targetOf(program, options);
  if (!found.ok) throw new CompileError(found.diagnostics);
  return found.target;
}

function targetOf(
  program: Func,
  options: CompileOptions,
):
  | { readonly ok: true; readonly target: Target }
  | { readonly ok: false; readonly diagnostics: Diagnostic[] } {
  if (options.target !== undefined) return { ok: true, target: options.target };
  if (program.target === undefined) return { ok: true, target: defaultTarget };
  const target = (options.findTarget ?? findTarget)(program.target);
  if (target !== undefined) return { ok: true, target };
  const diagnostic = error("TC501", `unknown target ${program.target}`, {
    span: program.span,
    hint: `one of ${targetNames.join(", ")}, or --target with a target file`,
  });
  return { ok: false, diagnostics: [diagnostic] };
}

/** The program with the options' schedule entries over its own, and its target's name. */
export function scheduled(program: Func, options: CompileOptions, target: Target): Func {
  const { tile, view, profile, residency, order, buffers, cores, budgetRule, ubBytes } = options;
  const given: Schedule = {
    tile,
    view,
    profile,
    residency,
    order,
    buffers,
    cores,
    budgetRule,
    ubBytes,
  } as Schedule;
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  const schedule: Schedule = { ...program.schedule, ...Object.fromEntries(entries) };
  return { ...program, target: target.name, schedule };
}

function resolvedOf(source: SourceFunc): Resolved | undefined {
  const result = resolveSource({
    op: source.op,
    attrs: source.attrs,
    data: source.data.type,
    indices: source.indices.type,
  });
  return result.ok ? result.resolved : undefined;
}

/**
 * The kernel for a WebGPU device: one compiled for a webgpu target as it is, another compiled again for the device,
 * its tile kept where legal there. Its legality was judged under its own target already.
 */
function forDevice(kernel: Kernel, device: Target): Kernel {
  throwIfErrors(
    checkOptions("forTarget", { target: device }, { target: targetField }, { needs: ["target"] }),
  );
  if (kernel.target.kind === "webgpu") return kernel;
  const program = kernel.source ?? kernel.access;
  if (program === undefined) {
    const message = `@${kernel.name} is a tile program for ${kernel.target.name}; a WebGPU device needs another`;
    throw new CompileError([
      error("TC502", message, { hint: "compile the source program for a webgpu target" }),
    ]);
  }
  const { tile } = kernel.tile.schedule;
  const plain = { ...program, schedule: {} };
  const kept: CompileResult =
    tile === undefined || tile.length !== plain.output.type.shape.length
      ? { ok: false, diagnostics: [] }
      : tryCompile(plain, { target: device, tile });
  return kept.ok ? kept.kernel : compile(plain, { target: device });
}
