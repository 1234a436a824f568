/**
 * Runs one lane of a kernel's text and tells an observer of each access. Its values are exact but for floats,
 * which are those of the host; the iterations of a long loop are sampled and weighted, so that the cost
 * follows the text and not the sizes.
 */
import { assertNever, at, InternalError, isPowerOfTwo } from "../../../ir/types.js";
import type {
  BufferSyntax,
  Expr,
  FunctionSyntax,
  KernelSyntax,
  ScalarType,
  Statement,
  WgslType,
} from "./syntax.js";

type Scalar = number | boolean;
type Value = Scalar | readonly Value[];

/**
 * Access of a lane to `words` consecutive 32-bit words of a buffer. `word`: 0-based index of the first word.
 */
export interface LaneAccess {
  /** `atomic`: the word is read and written in one step. */
  readonly kind: "load" | "store" | "atomic";
  readonly buffer: BufferSyntax;
  readonly word: number;
  readonly words: number;
  /**
   * Key of this execution of the instruction. Lanes that take the same path through the kernel have equal
   * keys.
   */
  readonly key: string;
  /** Key of the loads that no loop of unknown length keeps apart from this one. */
  readonly batch: string;
  /** Executions that a sampled one stands for. */
  readonly weight: number;
}

/** Operation counts of one lane, from the interpretation of a kernel by {@link LaneRunner}. */
export interface LaneCounts {
  /** Operations on 32 bits: one for each component of a vector, and one for each access. */
  instructions: number;
  /** Divisions inside loops, apart from divisions by a constant power of two. */
  divisionsInLoops: number;
  /** Calls, inside loops, of functions on 128-bit numbers. */
  int128InLoops: number;
}

/**
 * Callbacks of {@link LaneRunner}. `word` returns a word of a buffer, `member` a member of the struct
 * `sizes`, and `access` receives each access of a lane.
 */
export interface LaneHost {
  readonly word: (buffer: BufferSyntax, word: number) => number;
  readonly member: (name: string) => number;
  readonly access: (access: LaneAccess) => void;
}

/**
 * Position of a lane in the grid: the built-in values of a WGSL entry point. `index`: 0-based index of the
 * lane in the workgroup.
 */
export interface LanePosition {
  readonly workgroup: readonly [number, number, number];
  /** Numbers of workgroups of the dispatch along x, y and z. */
  readonly workgroups: readonly [number, number, number];
  readonly lane: readonly [number, number, number];
  readonly index: number;
}

/** Iterations of a loop that are run where it has more of them. */
const sampled = 8;

/** Iterations that a compiler unrolls at most, where their number is constant. */
const unrolledMax = 16;

/** Instructions of a division by a number that is known, and by any other. */
const divisionInstructions = { known: 4, other: 20 } as const;

interface Run {
  readonly host: LaneHost;
  readonly counts: LaneCounts;
  frame: Value[];
  weight: number;
  depth: number;
  path: string;
  batch: string;
  /** Set by a return: its value, or true. */
  result: Value | undefined;
  /** True from a break to the end of its loop. */
  isBroken: boolean;
}

interface Compiled {
  readonly type: WgslType;
  readonly isConstant: boolean;
  readonly run: (run: Run) => Value;
}

/** Place of words that is read or written. */
interface Place {
  readonly buffer: BufferSyntax;
  readonly type: WgslType;
  readonly word: (run: Run) => number;
}

type Step = (run: Run) => void;

interface Declared {
  readonly slot: number;
  readonly type: WgslType;
}

/**
 * Interpreter that runs the WGSL text of a kernel lane by lane, counts operations and reports accesses to a
 * {@link LaneHost}.
 */
export class LaneRunner {
  private readonly functions = new Map<string, FunctionSyntax>();
  private readonly bodies = new Map<string, { readonly slots: number; readonly body: Step }>();
  private readonly buffers = new Map<string, BufferSyntax>();
  /** Words written by atomic accesses, by buffer name and word index. */
  private readonly written = new Map<string, number>();
  private instructionCount = 0;
  private scopes: Map<string, Declared>[] = [];
  private slots = 0;

  constructor(kernel: KernelSyntax) {
    for (const buffer of kernel.buffers) this.buffers.set(buffer.name, buffer);
    for (const func of kernel.functions) this.functions.set(func.name, func);
  }

  /** Runs a lane to its end. */
  run(entryPoint: string, position: LanePosition, host: LaneHost): LaneCounts {
    const main = this.functionNamed(entryPoint);
    const counts = { instructions: 0, divisionsInLoops: 0, int128InLoops: 0 };
    const frame = main.params.map(({ builtin }) => builtinValue(builtin, position));
    const run: Run = {
      host,
      counts,
      frame,
      weight: 1,
      depth: 0,
      path: "",
      batch: "",
      result: undefined,
      isBroken: false,
    };
    this.bodyOf(main).body(run);
    return counts;
  }

  private functionNamed(name: string): FunctionSyntax {
    const func = this.functions.get(name);
    if (func === undefined) throw new InternalError(`no function ${name}`);
    return func;
  }

  private bodyOf(func: FunctionSyntax): { readonly slots: number; readonly body: Step } {
    const cached = this.bodies.get(func.name);
    if (cached !== undefined) return cached;
    const outer = { scopes: this.scopes, slots: this.slots };
    this.scopes = [new Map(func.params.map(({ name, type }, slot) => [name, { slot, type }]))];
    this.slots = func.params.length;
    const body = this.sequence(func.body);
    const compiled = { slots: this.slots, body };
    ({ scopes: this.scopes, slots: this.slots } = outer);
    this.bodies.set(func.name, compiled);
    return compiled;
  }

  private sequence(body: readonly Statement[]): Step {
    this.scopes.push(new Map());
    const steps = body.map((statement) => this.statement(statement));
    this.scopes.pop();
    return (run) => {
      for (const step of steps) {
        step(run);
        if (run.result !== undefined || run.isBroken) return;
      }
    };
  }

  private declare(name: string, type: WgslType): number {
    const slot = this.slots++;
    at(this.scopes, this.scopes.length - 1).set(name, { slot, type });
    return slot;
  }

  private declared(name: string): Declared | undefined {
    return this.scopes.findLast((scope) => scope.has(name))?.get(name);
  }

  private statement(statement: Statement): Step {
    switch (statement.kind) {
      case "block":
        return this.sequence(statement.body);
      case "declare": {
        const value = this.expr(statement.value);
        const slot = this.declare(statement.name, value.type);
        return (run) => {
          run.frame[slot] = value.run(run);
        };
      }
      case "reserve": {
        const { name, type } = statement;
        const slot = this.declare(name, type);
        const zeros: Value = Array.from({ length: type.length ?? 0 }, () =>
          type.n === 1 ? 0 : Array.from({ length: type.n }, () => 0),
        );
        return (run) => {
          run.frame[slot] = zeros;
        };
      }
      case "assign":
        return this.assignment(statement);
      case "call": {
        const call = this.expr(statement.call);
        return (run) => {
          call.run(run);
        };
      }
      case "return": {
        const value = statement.value === undefined ? undefined : this.expr(statement.value);
        return (run) => {
          run.result = value === undefined ? true : value.run(run);
        };
      }
      case "if": {
        const test = this.expr(statement.test);
        const [then, otherwise] = [this.sequence(statement.then), this.sequence(statement.otherwise)];
        return (run) => {
          if (test.run(run) === true) then(run);
          else otherwise(run);
        };
      }
      case "for":
        return this.loop(statement);
      case "loop":
        return this.loopToBreak(statement.body);
      case "break":
        return (run) => {
          run.isBroken = true;
        };
      default:
        return assertNever(statement);
    }
  }

  /** Returns the step of a loop that ends by a break. Throws an InternalError for one that goes on. */
  private loopToBreak(body: readonly Statement[]): Step {
    const id = this.instructionCount++;
    const inside = this.sequence(body);
    return (run) => {
      const { path, batch } = run;
      run.depth++;
      for (let k = 0; !run.isBroken && run.result === undefined; k++) {
        if (k > sampled) throw new InternalError("a loop of one lane ends at once");
        run.path = `${path}.${id}:${k}`;
        run.batch = `${batch}.${id}:${k}`;
        inside(run);
      }
      run.depth--;
      Object.assign(run, { path, batch, isBroken: false });
    };
  }

  private assignment({ into, op, value: written }: Extract<Statement, { readonly kind: "assign" }>): Step {
    const value =
      op === "" ? this.expr(written) : this.expr({ kind: "binary", op, left: into, right: written });
    const declared = into.kind === "name" ? this.declared(into.name) : undefined;
    if (declared !== undefined) {
      return (run) => {
        run.frame[declared.slot] = value.run(run);
      };
    }
    const component = this.component(into);
    if (component !== undefined) {
      const { of, index } = component;
      return (run) => {
        const vector = [...(run.frame[of.slot] as readonly Value[])];
        vector[index.run(run) as number] = value.run(run);
        run.frame[of.slot] = vector;
      };
    }
    if (into.kind === "name" && into.name === "_") {
      return (run) => {
        value.run(run);
      };
    }
    const place = this.place(into);
    if (place === undefined) throw new InternalError("nothing is assigned to");
    const store = this.access("store", place);
    return (run) => {
      value.run(run);
      store(run);
    };
  }

  /** Returns the variable and the component of it that an expression names; undefined for any other. */
  private component(expr: Expr): { readonly of: Declared; readonly index: Compiled } | undefined {
    if (expr.kind !== "index" || expr.of.kind !== "name") return undefined;
    const of = this.declared(expr.of.name);
    return of === undefined ? undefined : { of, index: this.expr(expr.index) };
  }

  private loop({ start, test, step, body }: Extract<Statement, { readonly kind: "for" }>): Step {
    this.scopes.push(new Map());
    const id = this.instructionCount++;
    const begin = this.statement(start);
    const goesOn = this.expr(test);
    const next = step === undefined ? undefined : this.statement(step);
    const trips = this.tripsOf(start, test, step);
    const inside = this.sequence(body);
    this.scopes.pop();
    return (run) => {
      begin(run);
      const { weight, path, batch } = run;
      const count = trips?.count(run);
      const isUnrolled = trips?.isConstant === true && (count ?? Infinity) <= unrolledMax;
      const rounds = count !== undefined && count > sampled && !isUnrolled ? sampled : Infinity;
      if (count !== undefined && rounds === sampled) run.weight *= count / sampled;
      run.depth++;
      for (let k = 0; k < rounds && goesOn.run(run) === true; k++) {
        run.path = `${path}.${id}:${k}`;
        run.batch = isUnrolled ? batch : `${batch}.${id}:${k}`;
        inside(run);
        if (run.result !== undefined || run.isBroken) break;
        next?.(run);
      }
      run.depth--;
      Object.assign(run, { weight, path, batch, isBroken: false });
    };
  }

  /**
   * Returns the number of iterations of a loop that counts up to a bound, and whether it is known without a
   * lane. Undefined for another loop.
   */
  private tripsOf(
    start: Statement,
    test: Expr,
    step: Statement | undefined,
  ): { readonly isConstant: boolean; readonly count: (run: Run) => number } | undefined {
    if (start.kind !== "declare" || step?.kind !== "assign" || step.op !== "+") return undefined;
    if (test.kind !== "binary" || test.op !== "<") return undefined;
    const names = namesIn(test.left);
    if (names.length !== 1 || names[0] !== start.name || step.into.kind !== "name") return undefined;
    if (namesIn(test.right).includes(start.name) || step.value.kind !== "number") return undefined;
    const by = step.value.value;
    const slot = this.declared(start.name)?.slot ?? 0;
    const [left, right, from] = [this.expr(test.left), this.expr(test.right), this.expr(start.value)];
    return {
      isConstant: from.isConstant && right.isConstant,
      count(run) {
        return silently(run, () => {
          const [value, first, end] = [run.frame[slot], left.run(run) as number, right.run(run) as number];
          run.frame[slot] = (value as number) + by;
          const each = (left.run(run) as number) - first;
          run.frame[slot] = value ?? 0;
          return Math.max(0, Math.ceil((end - first) / each));
        });
      },
    };
  }

  private expr(expr: Expr): Compiled {
    switch (expr.kind) {
      case "number": {
        const { value, of } = expr;
        return { type: { of: of ?? "i32", n: 1 }, isConstant: true, run: () => value };
      }
      case "name": {
        if (expr.name === "true" || expr.name === "false") {
          const value = expr.name === "true";
          return { type: { of: "bool", n: 1 }, isConstant: true, run: () => value };
        }
        const declared = this.declared(expr.name);
        if (declared === undefined) throw new InternalError(`no variable ${expr.name}`);
        const { slot, type } = declared;
        return { type, isConstant: false, run: (run) => run.frame[slot] ?? 0 };
      }
      case "unary":
        return this.unary(expr.op, expr.of);
      case "binary":
        return this.binary(expr.op, expr.left, expr.right);
      case "index":
      case "member":
        return this.loaded(expr);
      case "call":
        return this.call(expr);
      default:
        return assertNever(expr);
    }
  }

  private loaded(expr: Extract<Expr, { readonly kind: "index" | "member" }>): Compiled {
    if (expr.kind === "member" && expr.of.kind === "name") {
      const members = this.buffers.get(expr.of.name)?.type.members;
      const { name } = expr;
      if (members?.includes(name) === true)
        return { type: { of: "u32", n: 1 }, isConstant: false, run: (run) => run.host.member(name) };
    }
    const place = this.place(expr);
    if (place !== undefined) {
      const load = this.access("load", place);
      const { buffer, type } = place;
      const word = (run: Run, first: number, k: number): Scalar =>
        asType(type.of, run.host.word(buffer, first + k));
      return {
        type,
        isConstant: false,
        run(run) {
          const first = load(run);
          return type.n === 1
            ? word(run, first, 0)
            : Array.from({ length: type.n }, (_, k) => word(run, first, k));
        },
      };
    }
    const of = this.expr(expr.of);
    if (expr.kind === "index") {
      const index = this.expr(expr.index);
      return {
        type: { of: of.type.of, n: of.type.length === undefined ? 1 : of.type.n },
        isConstant: false,
        run: (run) => at(of.run(run) as readonly Value[], index.run(run) as number),
      };
    }
    const field = exchangeFields.indexOf(expr.name);
    if (field >= 0) {
      const type: WgslType = { of: expr.name === "exchanged" ? "bool" : "u32", n: 1 };
      return { type, isConstant: false, run: (run) => at(of.run(run) as readonly Value[], field) };
    }
    const components = Array.from(expr.name, (letter) => "xyzw".indexOf(letter));
    const [only = 0] = components;
    return {
      type: { of: of.type.of, n: components.length },
      isConstant: of.isConstant,
      run(run) {
        const vector = of.run(run) as readonly Scalar[];
        return components.length === 1 ? at(vector, only) : components.map((k) => at(vector, k));
      },
    };
  }

  /** Returns the words of a buffer that an expression names; undefined for one that names none. */
  private place(expr: Expr): Place | undefined {
    if (expr.kind !== "index") return undefined;
    const index = this.expr(expr.index);
    if (expr.of.kind === "name") {
      const buffer = this.buffers.get(expr.of.name);
      if (buffer === undefined) return undefined;
      const { element } = buffer.type;
      return { buffer, type: element, word: (run) => (index.run(run) as number) * element.n };
    }
    const vector = this.place(expr.of);
    if (vector === undefined) return undefined;
    const { buffer, type, word } = vector;
    return { buffer, type: { of: type.of, n: 1 }, word: (run) => word(run) + (index.run(run) as number) };
  }

  /** Returns the access of a place, which tells the host and gives its first word. */
  private access(kind: LaneAccess["kind"], { buffer, type, word }: Place): (run: Run) => number {
    const id = this.instructionCount++;
    return (run) => {
      const first = word(run);
      const { host, counts, weight, path, batch } = run;
      counts.instructions += weight;
      host.access({ kind, buffer, word: first, words: type.n, key: `${path}#${id}`, batch, weight });
      return first;
    };
  }

  private unary(op: string, written: Expr): Compiled {
    if (op === "&") return this.expr(written);
    const of = this.expr(written);
    const { type, isConstant } = of;
    const compute = (value: Scalar): Scalar =>
      op === "!" ? value === false : asType(type.of, op === "~" ? ~Number(value) : -Number(value));
    return operation(type, type.n, isConstant, [of], ([value]) => compute(value ?? 0));
  }

  private binary(op: string, leftSide: Expr, rightSide: Expr): Compiled {
    const [left, right] = [this.expr(leftSide), this.expr(rightSide)];
    // A literal without a suffix has the type of the other side; the amount of a shift has its own.
    const isPlain = leftSide.kind === "number" && leftSide.of === undefined && op !== "<<" && op !== ">>";
    const { of } = isPlain ? right.type : left.type;
    const n = Math.max(left.type.n, right.type.n);
    const isConstant = left.isConstant && right.isConstant;
    const isTest = ["==", "!=", "<", ">", "<=", ">="].includes(op);
    const type: WgslType = { of: isTest ? "bool" : of, n };
    const compute = binaries[op];
    if (compute === undefined) throw new InternalError(`no operator ${op}`);
    const divides = (op === "/" || op === "%") && of !== "f32" && !isShift(right);
    const cost = right.isConstant ? divisionInstructions.known : divisionInstructions.other;
    return operation(
      type,
      divides ? n * cost : n,
      isConstant,
      [left, right],
      ([a, b]) => asType(type.of, compute(a ?? 0, b ?? 0, of)),
      divides ? n : 0,
    );
  }

  private call({ name, type: stated, args: written }: Extract<Expr, { readonly kind: "call" }>): Compiled {
    if (name.startsWith("atomic")) return this.atomic(name, written);
    if (name.endsWith("Barrier")) return { type: { of: "u32", n: 1 }, isConstant: false, run: () => 0 };
    const args = written.map((arg) => this.expr(arg));
    if (stated !== undefined) return constructed(name, stated, args);
    const pure = builtins[name];
    if (pure !== undefined) {
      const [first] = args;
      // The type is that of an argument that is no plain literal.
      const typed = written.findIndex((arg) => arg.kind !== "number" || arg.of !== undefined);
      const { of } = (args[Math.max(0, typed)] ?? first)?.type ?? { of: "u32" as const };
      const widest = Math.max(...args.map(({ type }) => type.n));
      const result: WgslType = name === "any" || name === "all" ? { of: "bool", n: 1 } : { of, n: widest };
      const isConstant = args.every((arg) => arg.isConstant);
      if (result.n < widest) return reduced(name, result, widest, args);
      return operation(result, widest, isConstant, args, (values) => asType(of, pure(values, of)));
    }
    return this.calledFunction(name, args);
  }

  /** Returns a call that takes effect on a word: later atomics of any lane see what it wrote. */
  private atomic(name: string, [operand, ...given]: readonly Expr[]): Compiled {
    const place = operand?.kind === "unary" ? this.place(operand.of) : undefined;
    if (place === undefined) throw new InternalError("an atomic is of a place of a buffer");
    const kind = name === "atomicLoad" ? "load" : name === "atomicStore" ? "store" : "atomic";
    const [access, args] = [this.access(kind, place), given.map((arg) => this.expr(arg))];
    const isExchange = name === "atomicCompareExchangeWeak";
    const change = isExchange ? exchanged : atomics[name];
    if (change === undefined) throw new InternalError(`no atomic ${name}`);
    const { written } = this;
    return {
      type: isExchange ? { of: "u32", n: exchangeFields.length } : place.type,
      isConstant: false,
      run(run) {
        const values = args.map((arg) => Number(arg.run(run)));
        const word = access(run);
        const key = `${place.buffer.name} ${word}`;
        const old = written.get(key) ?? run.host.word(place.buffer, word);
        const changed = change(old, values) >>> 0;
        if (kind !== "load") written.set(key, changed);
        return isExchange ? [old, old === values[0]] : old;
      },
    };
  }

  private calledFunction(name: string, args: readonly Compiled[]): Compiled {
    const func = this.functionNamed(name);
    const { body } = this.bodyOf(func);
    const id = this.instructionCount++;
    const isInt128 = name.endsWith("_i128");
    return {
      type: func.result ?? { of: "u32", n: 1 },
      isConstant: false,
      run(run) {
        const values = args.map((arg) => arg.run(run));
        if (isInt128 && run.depth > 0) run.counts.int128InLoops += run.weight;
        const { frame, path } = run;
        run.frame = values;
        run.path = `${path}(${id}`;
        body(run);
        const result = run.result ?? 0;
        run.result = undefined;
        Object.assign(run, { frame, path });
        return result;
      },
    };
  }
}

/** Function from a word, and the arguments of an atomic, to the word that the atomic writes. */
type Change = (old: number, values: readonly number[]) => number;

const atomics: Readonly<Record<string, Change>> = {
  atomicLoad: (old) => old,
  atomicStore: (_, [value = 0]) => value,
  atomicAdd: (old, [value = 0]) => old + value,
  atomicMax: (old, [value = 0]) => Math.max(old, value),
  atomicMin: (old, [value = 0]) => Math.min(old, value),
  atomicAnd: (old, [value = 0]) => old & value,
  atomicOr: (old, [value = 0]) => old | value,
};

const exchanged: Change = (old, [expected, value = 0]) => (old === expected ? value : old);

/** Members of the result of an exchange, in the order of its values. */
const exchangeFields = ["old_value", "exchanged"];

const isShift = ({ isConstant, run }: Compiled): boolean => isConstant && isPowerOfTwo(Number(run(idle)));

/** Stands for a lane where nothing depends on one. */
const idle: Run = {
  host: { word: () => 0, member: () => 0, access: () => undefined },
  counts: { instructions: 0, divisionsInLoops: 0, int128InLoops: 0 },
  frame: [],
  weight: 0,
  depth: 0,
  path: "",
  batch: "",
  result: undefined,
  isBroken: false,
};

/** Calls `body` without counting operations, and returns the result of `body`. */
function silently<T>(run: Run, body: () => T): T {
  const { weight } = run;
  run.weight = 0;
  const result = body();
  run.weight = weight;
  return result;
}

/**
 * Returns a compiled operation that computes each component of the result with `compute`. One execution
 * counts `instructions` operations, or none if all operands are constants.
 */
function operation(
  type: WgslType,
  instructions: number,
  isConstant: boolean,
  args: readonly Compiled[],
  compute: (values: readonly Scalar[]) => Scalar,
  divisions = 0,
): Compiled {
  const cost = isConstant ? 0 : instructions;
  return {
    type,
    isConstant,
    run(run) {
      const values = args.map((arg) => arg.run(run));
      const { counts, weight, depth } = run;
      counts.instructions += cost * weight;
      if (divisions > 0 && depth > 0) counts.divisionsInLoops += divisions * weight;
      if (type.n === 1 && values.every((value) => typeof value !== "object")) return compute(values);
      return Array.from({ length: type.n }, (_, k) => compute(values.map((value) => componentOf(value, k))));
    },
  };
}

const componentOf = (value: Value, k: number): Scalar =>
  typeof value === "object" ? (at(value, k) as Scalar) : value;

/** Returns whether any or all components hold. */
const reduced = (name: string, type: WgslType, n: number, args: readonly Compiled[]): Compiled => ({
  type,
  isConstant: false,
  run(run) {
    const values = at(args, 0).run(run) as readonly Scalar[];
    run.counts.instructions += (n - 1) * run.weight;
    return name === "any" ? values.some((value) => value === true) : values.every((value) => value === true);
  },
});

/** Returns a compiled WGSL constructor (vector or number conversion) or `bitcast`. */
function constructed(name: string, type: WgslType, args: readonly Compiled[]): Compiled {
  const isConstant = args.every((arg) => arg.isConstant);
  const [first] = args;
  if (name === "bitcast" && first !== undefined) {
    const from = first.type.of;
    return operation(type, 0, isConstant, args, ([value]) => asBits(from, type.of, Number(value)));
  }
  if (type.n === 1 && type.length === undefined && first !== undefined) {
    const isFree = first.type.of !== "f32" && type.of !== "f32";
    return operation(type, isFree ? 0 : 1, isConstant, args, ([value]) => asType(type.of, Number(value)));
  }
  return {
    type,
    isConstant,
    run(run) {
      const values = args.flatMap((arg) => arg.run(run));
      return Array.from(
        { length: type.length ?? type.n },
        (_, k) => values[values.length === 1 ? 0 : k] ?? 0,
      );
    },
  };
}

const bits = new DataView(new ArrayBuffer(4));

function asBits(from: ScalarType, to: ScalarType, value: number): Scalar {
  if (from === "f32") bits.setFloat32(0, value);
  else bits.setUint32(0, value);
  return to === "f32" ? bits.getFloat32(0) : asType(to, bits.getUint32(0));
}

/** Returns a scalar converted to the WGSL type `of`: 32-bit integers wrap, and floats are rounded to f32. */
function asType(of: ScalarType, value: Scalar): Scalar {
  switch (of) {
    case "bool":
      return value === true;
    case "u32":
      return Number(value) >>> 0;
    case "i32":
      return Number(value) | 0;
    case "f32":
      return Math.fround(Number(value));
    default:
      return assertNever(of);
  }
}

const binaries: Readonly<Record<string, (a: Scalar, b: Scalar, of: ScalarType) => Scalar>> = {
  "+": (a, b) => Number(a) + Number(b),
  "-": (a, b) => Number(a) - Number(b),
  "*": (a, b, of) => (of === "f32" ? Number(a) * Number(b) : Math.imul(Number(a), Number(b))),
  "/": (a, b, of) => (of === "f32" ? Number(a) / Number(b) : Math.trunc(Number(a) / (Number(b) || 1))),
  "%": (a, b) => Number(a) % (Number(b) || 1),
  "&": (a, b, of) => (of === "bool" ? a === true && b === true : Number(a) & Number(b)),
  "|": (a, b, of) => (of === "bool" ? a === true || b === true : Number(a) | Number(b)),
  "^": (a, b) => Number(a) ^ Number(b),
  "<<": (a, b) => Number(a) << Number(b),
  ">>": (a, b, of) => (of === "u32" ? Number(a) >>> Number(b) : Number(a) >> Number(b)),
  "&&": (a, b) => a === true && b === true,
  "||": (a, b) => a === true || b === true,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

const builtins: Readonly<Record<string, (values: readonly Scalar[], of: ScalarType) => Scalar>> = {
  select: ([no = 0, yes = 0, test]) => (test === true ? yes : no),
  min: (values) => Math.min(...values.map(Number)),
  max: (values) => Math.max(...values.map(Number)),
  clamp: ([value, low, high]) => Math.min(Math.max(Number(value), Number(low)), Number(high)),
  countLeadingZeros: ([value]) => Math.clz32(Number(value)),
  extractBits: ([value, from, count], of) => {
    const high = Number(value) << (32 - Number(from) - Number(count));
    return of === "i32" ? high >> (32 - Number(count)) : high >>> (32 - Number(count));
  },
  any: ([value = false]) => value,
  all: ([value = false]) => value,
};

/** Returns the names of the variables in an expression; an empty list if there are none. */
function namesIn(expr: Expr): readonly string[] {
  switch (expr.kind) {
    case "number":
      return [];
    case "name":
      return [expr.name];
    case "unary":
    case "member":
      return namesIn(expr.of);
    case "binary":
      return [...namesIn(expr.left), ...namesIn(expr.right)];
    case "index":
      return [...namesIn(expr.of), ...namesIn(expr.index)];
    case "call":
      return expr.args.flatMap(namesIn);
    default:
      return assertNever(expr);
  }
}

/**
 * Returns the value of a WGSL built-in, for example `workgroup_id`, at a lane's position. Throws an
 * InternalError for an unsupported built-in.
 */
function builtinValue(name: string | undefined, { workgroup, workgroups, lane, index }: LanePosition): Value {
  switch (name) {
    case "workgroup_id":
      return workgroup;
    case "num_workgroups":
      return workgroups;
    case "local_invocation_id":
      return lane;
    case "local_invocation_index":
      return index;
    case undefined:
    default:
      throw new InternalError(`no built-in value ${name ?? ""}`);
  }
}
