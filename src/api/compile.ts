/** A program to a kernel: runs a pipeline from whatever level the program is at. */
import {
  BoundedCache,
  callable,
  isObject,
  oneOf,
  singleCopies,
  yesOrNo,
  type Fields,
} from "../../backends/index.js";
import { emitWgsl, type WgslKernel, type WgslOptions } from "../../backends/webgpu/index.js";
import { arithmetics } from "../../backends/wgsl/index.js";
import { emitPto, type PtoKernel } from "../../backends/pto/index.js";
import { emitPypto, emitPyptoScatter, emitPyptoValue } from "../../backends/pypto/index.js";
import {
  defined,
  bindSizes,
  bindTile,
  CompileError,
  defaultLimits,
  defaultTarget,
  error,
  findTarget,
  flatten,
  formatSizes,
  hasErrors,
  judgeTypes,
  givenEntries,
  isResolved,
  levels as everyLevel,
  limitNames,
  markVerified,
  dynamicSymbols,
  outputOf,
  printFunc,
  resolveSource,
  sourceOp,
  targetFacts,
  targetNames,
  throwIfErrors,
  unscheduled,
  tileFaults,
  verifyStructure,
  webgpu,
  withMaxSizes,
  withoutProfile,
  type AccessFunc,
  type BindResult,
  type Diagnostic,
  type Footprint,
  type Func,
  type Level,
  type DynamicTile,
  type Property,
  type Resolved,
  type Schedule,
  type Sizes,
  type Symbolic,
  type SourceFunc,
  type Target,
  type TileFunc,
  type Tiling,
  type WgslLimits,
  isMove,
  isScatter,
} from "../../ir/index.js";
import {
  decided,
  defaultPipeline,
  isPass,
  dynamicLowered,
  runPipeline,
  type Pass,
  type PipelineOptions,
} from "../../passes/index.js";
import {
  checkOptions,
  checkProgram,
  scheduleFields,
  sizesOfSymbolsField,
  limitFields,
  targetField,
  targetOrNameField,
} from "./check-options.js";
import { pieceAt, pieceTable, type Piece, type TableRecord } from "./pieces.js";

/**
 * Options of {@link compile}: schedule entries, the target, and callbacks around each pass. An option
 * overrides the same entry of the program.
 */
export interface CompileOptions extends Schedule, PipelineOptions {
  /**
   * Size of each symbol, in elements. Absent: the program is compiled for the largest sizes of its symbols.
   */
  readonly bind?: Sizes;
  /** Overrides the target that the program names: a target, or a name such as `"webgpu"`. */
  readonly target?: Target | string;
  /** Resolves a target by name; built-in targets by default. */
  readonly findTarget?: (name: string) => Target | undefined;
  /**
   * The pipeline, in order; those that the program's level has behind it are left out. Default:
   * `defaultPipeline`.
   */
  readonly passes?: readonly Pass[];
  /**
   * Records of searches: the table of a program with an open symbol, where they hold one, gives `bind` its
   * schedules.
   */
  readonly records?: readonly { readonly record: string }[];
}

/** Validation rules for the fields of {@link CompileOptions}, by field name. */
export const compileFields: Fields<CompileOptions> = {
  ...scheduleFields,
  bind: sizesOfSymbolsField,
  target: targetOrNameField,
  findTarget: callable,
  passes: {
    code: "TC702",
    takes: "a list of passes, such as defaultPipeline of tilec/passes",
    holds: (value) => Array.isArray(value) && value.every(isPass),
  },
  records: {
    code: "TC702",
    takes: "a list of records, such as parseRecords of tilec/tune gives",
    holds: (value) => Array.isArray(value) && value.every((one) => isObject(one) && "record" in one),
  },
  beforePass: callable,
  afterPass: callable,
  verifyEach: yesOrNo(),
};

/**
 * Returns a diagnostic for each field of a program or of the compile options that has the wrong type or
 * structure. The list is empty if all fields are well-formed.
 */
export const checkCompile = (program: unknown, options: unknown): Diagnostic[] => [
  ...checkProgram(program),
  ...checkOptions("compile", options, compileFields),
];

/**
 * Compiled gather or scatter: the program at each IR level, diagnostics, and methods that emit code. Backends
 * execute the field `tile`.
 */
export interface Kernel {
  readonly name: string;
  readonly target: Target;
  /** Absent if compilation started below the source level. */
  readonly source?: SourceFunc;
  readonly access?: AccessFunc;
  readonly tile: TileFunc;
  /** Operator of the kernel, independent of a dialect, which the backend `reference` evaluates. */
  readonly resolved?: Resolved;
  /**
   * Access program before any pass, which the backend `reference` evaluates. Present if the kernel was
   * compiled from an access program.
   */
  readonly definition?: AccessFunc;
  /** UB bytes of the kernel, part by part; absent for a program that began at the tile level. */
  readonly footprint?: Footprint;
  /** Passes that compiled the kernel. They also compile the kernel again for other sizes and targets. */
  readonly passes: readonly Pass[];
  /** Warnings and hints. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * This kernel for a target of its own kind; for another kind, the unaltered program compiled again from its
   * source, its tile kept where legal. Throws a CompileError (TC502) for a tile program without a source, and
   * for an altered tile.
   */
  forTarget(target: Target): Kernel;
  /**
   * This kernel at some sizes of its symbols, in elements, by name: its schedule, or that of the piece of a
   * table of `records`, and code that its sizes, or those of the piece, share. Throws a CompileError: TC107
   * for sizes that it does not take, TC204 where its map does not hold at these, TC502 for an altered tile.
   */
  bind(sizes: Sizes): Kernel;
  /**
   * WGSL, bindings and dispatch for any limits; no device is needed. With `arithmetic: "native"`, f32 is
   * computed as the device computes it, whose bits are its own.
   */
  wgsl(limits?: WgslLimits, options?: Pick<WgslOptions, "arithmetic">): WgslKernel;
  /**
   * PTO-ISA C++, its parameters and what the host launches. Throws a CompileError (TC505) where it cannot be
   * expressed.
   */
  pto(): PtoKernel;
  /**
   * The gather and its schedule as a Python program for PyPTO. Throws a CompileError: TC505 where PyPTO
   * cannot express it, and for a tile program, which has no operation; TC1xx where PyPTO's operation does not
   * take its types.
   */
  pypto(): string;
  /** The program as text at one level. Throws a CompileError (TC702) for a level it never was at. */
  text(level: Level): string;
}

/** Result of {@link tryCompile}: a kernel, or the diagnostics that reject the program. */
export type CompileResult =
  | { readonly ok: true; readonly kernel: Kernel }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Compiles a program and returns the kernel. Throws a CompileError with all diagnostics if the program or
 * schedule is not legal.
 */
export function compile(program: Func, options: CompileOptions = {}): Kernel {
  const result = tryCompile(program, options);
  if (!result.ok) throw new CompileError(result.diagnostics);
  return result.kernel;
}

/** Compiles a program and returns the kernel, or the diagnostics that reject the program or the options. */
export function tryCompile(program: Func, options: CompileOptions = {}): CompileResult {
  const result = compileTiled(program, options);
  return result.ok ? { ok: true, kernel: result.kernel } : result;
}

/**
 * Result of {@link compileTiled}: a kernel, or the diagnostics that reject the program. `tiling`: the result
 * of applying the complete schedule to the gather or scatter; absent if the schedule is incomplete.
 */
export type CompiledTiling =
  | { readonly ok: true; readonly kernel: Kernel; readonly tiling?: Tiling }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Compiles a program. Returns the kernel and the tiling (the result of applying the complete schedule), or
 * the diagnostics that reject the program. The tiling is absent if the schedule is incomplete.
 */
export function compileTiled(program: Func, options: CompileOptions): CompiledTiling {
  const wrong = checkCompile(program, options);
  if (wrong.length > 0) return { ok: false, diagnostics: wrong };
  const bound = boundTo(program, options);
  if (!bound.ok) return bound;
  const targeted = targetOf(bound.func, options);
  if (!targeted.ok) return targeted;
  const { target } = targeted;
  const input = scheduled(bound.func, options, target);
  // A text of the access level states what a framework's operator takes, which its source's pass has judged
  // otherwise.
  const taken = input.level === "access" ? judgeTypes(input, target) : [];
  if (hasErrors(taken)) return { ok: false, diagnostics: taken };
  const levels = new Map<Level, Func>([[input.level, input]]);
  const pipeline = options.passes ?? defaultPipeline;
  const {
    func: made,
    diagnostics,
    tilings,
  } = runPipeline(input, passesFrom(input, pipeline), target, {
    ...defined({ verifyEach: options.verifyEach, beforePass: options.beforePass }),
    afterPass(pass, before, after, milliseconds) {
      levels.set(after.level, after);
      options.afterPass?.(pass, before, after, milliseconds);
    },
  });
  if (hasErrors(diagnostics)) return { ok: false, diagnostics };
  const judged = (["full-load", "fits-ub"] as const).every((property) =>
    pipeline.some(({ ensures }) => ensures.includes(property)),
  );
  const func = judged || input.level === "tile" ? made : withoutProfile(made);
  if (func.level !== "tile") {
    const message = `the passes end at the ${func.level} level of @${func.name}`;
    const hint = "a pipeline ends at the tile level; defaultPipeline shows the order";
    return { ok: false, diagnostics: [...diagnostics, error("TC702", message, { span: func.span, hint })] };
  }
  // Addresses and syncs that the user, or a pass of theirs, wrote are the user's to get right.
  const written = input.level === "tile" || options.passes !== undefined ? tileFaults(func, target) : [];
  if (written.length > 0) return { ok: false, diagnostics: [...diagnostics, ...written] };
  markVerified(func, target);
  const said = targetFacts[target.kind].doubleBuffers ? [] : singleCopies(func);
  const lowered = levels.get("access");
  const access = judged || lowered === undefined ? lowered : withoutProfile(lowered);
  if (access !== undefined) levels.set("access", access);
  const tiling =
    access?.level === "access" && isResolved(access.schedule)
      ? { tiling: decided(tilings.of(access, access.schedule)) }
      : {};
  const table =
    options.records !== undefined && input.level === "access" && input.symbolic !== undefined
      ? pieceTable(options.records, input, target)
      : undefined;
  const fields = {
    levels,
    ...(input.level === "access" ? { definition: input } : {}),
    target,
    diagnostics: [...taken, ...diagnostics, ...said],
    passes: pipeline,
    ...tiling,
    ...defined({ table }),
  };
  return { ok: true, kernel: kernelOf(func, fields), ...tiling };
}

interface KernelFields {
  readonly levels: ReadonlyMap<Level, Func>;
  readonly definition?: AccessFunc;
  readonly target: Target;
  readonly diagnostics: readonly Diagnostic[];
  readonly passes: readonly Pass[];
  readonly tiling?: Tiling;
  readonly table?: TableRecord;
  /** The kernel of which this one is at some sizes. */
  readonly family?: { readonly kernel: Kernel; readonly sizes: Sizes };
}

/**
 * Returns the {@link Kernel} object of a compiled tile program. `pieces`: the program at source and access
 * level, target, passes and diagnostics.
 */
function kernelOf(compiled: TileFunc, pieces: KernelFields): Kernel {
  const { levels, definition, target, diagnostics, passes, tiling, family } = pieces;
  const source = levels.get("source");
  const access = levels.get("access");
  const resolved = source?.level === "source" ? resolvedOf(source, target) : undefined;
  const footprint = family?.kernel.footprint ?? tiling?.footprint;
  /** The program compiled again, by target. */
  const again = new Map<Target, Kernel>();
  const atSizes = new KernelsAtSizes(access?.level === "access" ? access : compiled, pieces);
  return {
    name: compiled.name,
    target,
    ...(source?.level === "source" ? { source } : {}),
    ...(access?.level === "access" ? { access } : {}),
    tile: compiled,
    ...defined({ resolved, definition, footprint }),
    passes,
    diagnostics,
    // Methods speak of the object they are called on: a copy with another tile is another kernel.
    forTarget(device) {
      const cached = this.tile === compiled ? again.get(device) : undefined;
      const kernel = cached ?? forDevice(this, compiled, device, family);
      if (this.tile === compiled && kernel !== this) again.set(device, kernel);
      return kernel;
    },
    bind(sizes) {
      throwIfErrors(checkOptions("bind", { sizes }, { sizes: sizesOfSymbolsField }, { needs: ["sizes"] }));
      if (this.tile !== compiled) {
        throw altered(
          this,
          "its symbols are of the program before that",
          "bind the kernel first, and alter the bound kernel",
        );
      }
      return atSizes.at(this, sizes);
    },
    wgsl(limits = defaultLimits, options = {}) {
      throwIfErrors([
        ...checkOptions("wgsl", limits, limitFields, { allowsOthers: true, needs: limitNames }),
        ...checkOptions("wgsl", options, { arithmetic: oneOf(arithmetics) }),
      ]);
      const kernel = this.forTarget(anyDevice);
      return emitWgsl(kernel.tile, { ...options, limits, target: kernel.target });
    },
    pto() {
      return emitPto(this.tile, this.target);
    },
    pypto() {
      if (access?.level === "access" && this.tile === compiled && isScatter(access.map))
        return emitPyptoScatter(access, this.target);
      if (access?.level === "access" && this.tile === compiled && !isMove(access.map))
        return emitPyptoValue(access, this.target);
      if (access?.level !== "access" || resolved === undefined || this.tile !== compiled) {
        const began = this.tile === compiled && access !== undefined ? "an access map" : "a tile program";
        const message = `@${this.name} is ${began}, and PyPTO takes operations`;
        const hint = "compile the operator, unaltered";
        throw new CompileError([error("TC505", message, { span: this.tile.span, hint })]);
      }
      return emitPypto(access, resolved.operator, this.target);
    },
    text(level) {
      throwIfErrors(checkOptions("text", { level }, { level: oneOf(everyLevel) }));
      const func = level === "tile" ? this.tile : levels.get(level);
      if (func === undefined) {
        throw new CompileError([
          error(
            "TC702",
            `@${this.name} was compiled from a level below ${level}, and has no text of that level`,
          ),
        ]);
      }
      return printFunc(func);
    },
  };
}

/** A WebGPU device that binds whatever a program takes: text for other limits is judged by those. */
const anyDevice: Target = {
  ...webgpu,
  limits: Object.fromEntries(
    limitNames.map((name) => [name, Number.MAX_SAFE_INTEGER]),
  ) as unknown as WgslLimits,
};

/** The kernels of one program at sizes of its symbols. */
class KernelsAtSizes {
  private readonly bySizes = new BoundedCache<string, Kernel>({ limit: 64 });
  /** Kernel of a piece of the table, for all its sizes. */
  private readonly byPiece = new Map<Piece, Kernel>();
  /** The tile program for all sizes. */
  private dynamic: DynamicTile | undefined;

  constructor(
    private readonly program: AccessFunc | TileFunc,
    private readonly pieces: KernelFields,
  ) {}

  /**
   * Returns the kernel of a whole one at sizes. Throws a CompileError for sizes that the program does not
   * take.
   */
  at(family: Kernel, sizes: Sizes): Kernel {
    const { program } = this;
    const symbolic = program.level === "access" ? program.symbolic : undefined;
    const key = formatSizes(
      Object.fromEntries(dynamicSymbols(program).map(({ name }) => [name, sizes[name] ?? -1])),
    );
    const cached = Object.keys(sizes).length === symbolic?.symbols.length ? this.bySizes.get(key) : undefined;
    if (cached !== undefined) return cached;
    const bound = bindSizes(program, sizes);
    if (!bound.ok) throw new CompileError(bound.diagnostics);
    if (symbolic === undefined || program.level !== "access" || bound.func.level !== "access") return family;
    const kernel = this.ofPiece(program, sizes) ?? this.ofProgram(bound.func, symbolic, family, sizes);
    this.bySizes.set(key, kernel);
    return kernel;
  }

  /** Returns the kernel under the schedule that the table has for sizes; undefined where it has none. */
  private ofPiece(program: AccessFunc, sizes: Sizes): Kernel | undefined {
    const { table, target, passes } = this.pieces;
    const piece = table === undefined ? undefined : pieceAt(table.pieces, sizes[table.symbol]);
    if (table === undefined || piece === undefined) return undefined;
    const { schedule, to } = piece;
    const kernel =
      this.byPiece.get(piece) ??
      compile(withMaxSizes(program, { [table.symbol]: to }), { ...schedule, target, passes });
    this.byPiece.set(piece, kernel);
    return kernel.bind(sizes);
  }

  /**
   * Returns the program for all sizes at these, where that holds, or the gather compiled for them under its
   * schedule.
   */
  private ofProgram(gather: AccessFunc, symbolic: Symbolic, family: Kernel, sizes: Sizes): Kernel {
    throwIfErrors(verifyStructure(gather));
    const { target, diagnostics } = family;
    const { tiling, passes } = this.pieces;
    const definition = definitionAt(gather, family, sizes);
    // Passes of the user's may make another program of each size.
    if (tiling !== undefined && passes === defaultPipeline) this.dynamic ??= dynamicLowered(tiling, symbolic);
    const tile = this.dynamic === undefined ? undefined : bindTile(this.dynamic, gather, sizes);
    if (tile === undefined || tileFaults(tile, target).length > 0)
      return { ...compile(gather, { target, passes }), definition };
    markVerified(tile, target);
    const levels = new Map<Level, Func>([
      ["access", gather],
      ["tile", tile],
    ]);
    return kernelOf(tile, {
      levels,
      definition,
      target,
      diagnostics,
      passes,
      family: { kernel: family, sizes },
    });
  }
}

/**
 * Returns the access program that defines a kernel's output, with symbols bound to `sizes`. Returns `gather`,
 * the kernel's own access program bound to the same sizes, if the kernel has no separate definition. Throws a
 * CompileError for invalid sizes.
 */
function definitionAt(gather: AccessFunc, { access, definition }: Kernel, sizes: Sizes): AccessFunc {
  const same = definition?.map === access?.map && definition?.symbolic === access?.symbolic;
  if (definition === undefined || same) return gather;
  const bound = bindSizes(definition, sizes);
  if (!bound.ok) throw new CompileError(bound.diagnostics);
  return bound.func.level === "access" ? bound.func : gather;
}

/**
 * Returns the passes of a pipeline that still have to run on `func`. Left out are passes for a higher level
 * and, at tile level, built-in passes whose result is already there.
 */
function passesFrom(func: Func, pipeline: readonly Pass[]): readonly Pass[] {
  if (func.level === "source") return pipeline;
  if (func.level === "access") return pipeline.filter((pass) => !pass.requires.includes("source"));
  const left = builtInFrom(func);
  return pipeline.filter((pass) =>
    defaultPipeline.includes(pass)
      ? left.includes(pass)
      : !pass.requires.some((property) => aboveTile.includes(property)),
  );
}

const aboveTile: readonly Property[] = ["source", "access", "scheduled"];

/**
 * Returns the built-in passes that a tile program still needs. The list is empty if the program has no
 * buffers in UB, or has both addresses and syncs.
 */
function builtInFrom({ body }: TileFunc): readonly Pass[] {
  const allocated = body.some((stmt) => stmt.op === "alloc" && stmt.buffer.addresses !== undefined);
  const staged = body.some((stmt) => stmt.op === "alloc");
  const missing: Property = !allocated ? "tile" : "allocated";
  if (!staged) return [];
  // Loads stay where the syncs that the user wrote expect them.
  if (flatten(body).some((stmt) => stmt.op === "sync"))
    return allocated ? [] : defaultPipeline.filter((pass) => pass.ensures.includes("allocated"));
  return defaultPipeline.slice(defaultPipeline.findIndex((pass) => pass.requires.includes(missing)));
}

/**
 * Returns the program with symbols (dynamic sizes) bound to the sizes in `options.bind`; the unchanged
 * program if `bind` is undefined. For invalid sizes, the result has diagnostics instead of a program.
 */
export const boundTo = (program: Func, { bind }: CompileOptions): BindResult =>
  bind === undefined ? { ok: true, func: program } : bindSizes(program, bind);

/**
 * Returns the target that a program is compiled for: the target of the options, else the target of the
 * program, else the default. Throws a CompileError (TC501) for an unknown name or an invalid result of
 * `findTarget`.
 */
export function resolveTargetOf(program: Func, options: CompileOptions): Target {
  const target = targetOf(program, options);
  if (!target.ok) throw new CompileError(target.diagnostics);
  return target.target;
}

/**
 * Returns the target that a program is compiled for: the target of the options, else of the program, else the
 * default. Returns diagnostics (TC501) for an unknown name or an invalid result of `findTarget`.
 */
function targetOf(
  program: Func,
  options: CompileOptions,
):
  | { readonly ok: true; readonly target: Target }
  | { readonly ok: false; readonly diagnostics: Diagnostic[] } {
  const given = options.target ?? program.target ?? defaultTarget;
  if (typeof given !== "string") return { ok: true, target: given };
  const target = (options.findTarget ?? findTarget)(given);
  if (target !== undefined) {
    const wrong = checkOptions(
      "findTarget",
      { [given]: target },
      { [given]: targetField },
      { path: "findTarget: " },
    );
    return wrong.length > 0 ? { ok: false, diagnostics: wrong } : { ok: true, target };
  }
  const diagnostic = error("TC501", `unknown target ${given}`, {
    span: program.span,
    hint: `one of ${targetNames.join(", ")}, or --target with a target file`,
  });
  return { ok: false, diagnostics: [diagnostic] };
}

/**
 * Returns the program for `target`. Schedule entries in `options` replace the program's entries of the same
 * name; the program's other entries stay.
 */
export function scheduled(program: Func, options: CompileOptions, target: Target): Func {
  return { ...program, target: target.name, schedule: { ...program.schedule, ...givenEntries(options) } };
}

function resolvedOf(source: SourceFunc, target: Target): Resolved | undefined {
  const result = resolveSource(sourceOp(source, target));
  return result.ok ? result.resolved : undefined;
}

const altered = ({ name, target }: Kernel, why: string, hint: string): CompileError =>
  new CompileError([
    error("TC502", `@${name} was altered after it was compiled for ${target.name}; ${why}`, { hint }),
  ]);

/** Returns the program without what its schedule made of it. */
function withoutSchedule(program: SourceFunc | AccessFunc): SourceFunc | AccessFunc {
  if (program.level === "source") return unscheduled(program);
  const { tiles: _, ...access } = program;
  return unscheduled(access);
}

/**
 * Returns a kernel for the target `device`: `kernel` itself if its target and `device` are both WebGPU or
 * both not WebGPU, else the program compiled again. Compiling again throws a CompileError (TC502) if the
 * kernel was compiled from a tile program, or if its field `tile` was changed. `compiled`: tile program that
 * the compiler made.
 */
function forDevice(
  kernel: Kernel,
  compiled: TileFunc,
  device: Target,
  family: KernelFields["family"],
): Kernel {
  throwIfErrors(
    checkOptions("forTarget", { target: device }, { target: targetField }, { needs: ["target"] }),
  );
  if (targetFacts[kernel.target.kind].runsOnWebgpu === targetFacts[device.kind].runsOnWebgpu) return kernel;
  if (kernel.tile !== compiled) {
    throw altered(
      kernel,
      `${device.name} needs another program`,
      `compile for ${device.name} and alter that tile program`,
    );
  }
  if (family !== undefined) return family.kernel.forTarget(device).bind(family.sizes);
  const program = kernel.source ?? kernel.access;
  if (program === undefined) {
    const message = `@${kernel.name} is a tile program for ${kernel.target.name}; ${device.name} needs another`;
    const hint = `compile the source program for ${device.name}`;
    throw new CompileError([error("TC502", message, { hint })]);
  }
  const { tile } = kernel.tile.schedule;
  const plain = withoutSchedule(program);
  const options = { target: device, passes: kernel.passes };
  const rank = outputOf(plain).type.shape.length;
  // It may have one entry more, for terms.
  const kept: CompileResult =
    tile === undefined || (tile.length !== rank && tile.length !== rank + 1)
      ? { ok: false, diagnostics: [] }
      : tryCompile(plain, { ...options, tile });
  return kept.ok ? kept.kernel : compile(plain, options);
}
