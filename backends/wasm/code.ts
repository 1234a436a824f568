/** Builds the body of a function: structured control by callbacks, locals by name. */
import type { Stmt } from "../../ir/tile.js";
import { assertNever, at, InternalError, invariant } from "../../ir/types.js";
import type { Instr, Local, PlainOp, WasmType } from "./instructions.js";

/** Index (0-based) of a local variable in a WebAssembly function; parameters come first. */
export type LocalId = number;
/** Target of a branch: a block that `br` leaves, or a loop that `br` repeats. */
export interface Label {
  readonly depth: number;
}

/** Integer operand of emitted code: a constant, or the value of a 32-bit WebAssembly local. */
export type WasmAmount =
  { readonly kind: "const"; readonly value: number } | { readonly kind: "local"; readonly local: LocalId };

/** 128-bit integer in two WebAssembly locals of type i64: the low and the high 64 bits. */
export interface Int128 {
  readonly low: LocalId;
  readonly high: LocalId;
}

/** Storage of an integer in emitted code: one WebAssembly local, or two for 128 bits. */
export type IntegerLocals = LocalId | Int128;

/** WebAssembly integer type (i32 or i64), used for sizes, loop variables and addresses. */
export type WasmInteger = Exclude<WasmType, "f32" | "v128">;

/**
 * Builder of the body of a WebAssembly function. Callbacks emit the contents of blocks and loops; locals are
 * created by name.
 */
export class CodeBuilder {
  readonly locals: Local[] = [];
  readonly body: Instr[] = [];
  private out: Instr[] = this.body;
  private depth = 0;
  /** Names of the locals, each with the last number that was appended to keep names distinct. */
  private readonly taken = new Map<string, number>();
  /** Locals of constant vectors, by their words. */
  private readonly vectors = new Map<string, LocalId>();

  /** Returns a new local; a name already taken gets a number. */
  local(name: string, type: WasmType = "i32"): LocalId {
    let unique = name;
    for (let number = (this.taken.get(name) ?? 0) + 1; this.taken.has(unique); number++) {
      unique = `${name}.${number}`;
      this.taken.set(name, number);
    }
    this.taken.set(unique, 0);
    this.locals.push({ name: unique, type });
    return this.locals.length - 1;
  }

  typeOf(local: LocalId): WasmInteger {
    const { type } = at(this.locals, local);
    invariant(type !== "v128" && type !== "f32", `${type} is no whole number`);
    return type;
  }

  op(op: PlainOp, ...args: (number | bigint)[]): this {
    this.out.push({ op, args });
    return this;
  }

  /** Returns the statement that the next instructions carry out. */
  comment(stmt: Stmt): this {
    this.out.push({ op: "comment", stmt });
    return this;
  }

  get(local: LocalId): this {
    return this.op("local.get", local);
  }

  set(local: LocalId): this {
    return this.op("local.set", local);
  }

  const(value: number): this {
    return this.op("i32.const", value | 0);
  }

  /**
   * Pushes a constant vector of four words. It stands once, at the start of the function: each takes 18
   * bytes.
   */
  vector(words: readonly [number, number, number, number]): this {
    const key = words.map((word) => word | 0).join();
    const existing = this.vectors.get(key);
    if (existing !== undefined) return this.get(existing);
    const local = this.local("vector", "v128");
    this.vectors.set(key, local);
    this.body.unshift({ op: "v128.const", args: words }, { op: "local.set", args: [local] });
    return this.get(local);
  }

  /** Returns a constant, modulo the size of its type. */
  integer(type: WasmInteger, value: number): this {
    return type === "i32" ? this.const(value) : this.op("i64.const", BigInt.asIntN(64, BigInt(value)));
  }

  /** Returns an amount, which is not negative, and `plus` more. */
  amount(amount: WasmAmount, type: WasmInteger = "i32", plus = 0): this {
    if (amount.kind === "const") return this.integer(type, amount.value + plus);
    this.get(amount.local);
    if (type === "i64") this.op("i64.extend_i32_u");
    return plus === 0 ? this : this.integer(type, plus).op(`${type}.add`);
  }

  /** Makes the value on top another type: a number with its sign, or the low half. */
  convert(from: WasmInteger, to: WasmInteger): this {
    if (from === to) return this;
    return this.op(to === "i32" ? "i32.wrap_i64" : "i64.extend_i32_s");
  }

  /** Adds a constant to the value on top. */
  plus(value: number): this {
    return value === 0 ? this : this.const(value).op("i32.add");
  }

  /** Multiplies the value on top by a constant. */
  times(value: number, type: WasmInteger = "i32"): this {
    if (value === 1) return this;
    if (type === "i64") return this.integer(type, value).op("i64.mul");
    const shift = Math.log2(value);
    return Number.isInteger(shift) && shift < 31
      ? this.const(shift).op("i32.shl")
      : this.const(value).op("i32.mul");
  }

  /** Emits local += constant. */
  advance(local: LocalId, by: number): this {
    if (by === 0) return this;
    const type = this.typeOf(local);
    return this.get(local).integer(type, by).op(`${type}.add`).set(local);
  }

  block(body: (exit: Label) => void): this {
    return this.nested("block", body);
  }

  loop(body: (again: Label) => void): this {
    return this.nested("loop", body);
  }

  if(then: () => void, otherwise?: () => void): this {
    const branch = (fill?: () => void): Instr[] =>
      this.inside(() => {
        fill?.();
      });
    this.out.push({ op: "if", then: branch(then), otherwise: branch(otherwise) });
    return this;
  }

  br(label: Label): this {
    return this.op("br", this.depth - label.depth);
  }

  brIf(label: Label): this {
    return this.op("br_if", this.depth - label.depth);
  }

  private nested(op: "block" | "loop", body: (label: Label) => void): this {
    const instrs = this.inside((label) => {
      body(label);
    });
    this.out.push({ op, body: instrs });
    return this;
  }

  private inside(fill: (label: Label) => void): Instr[] {
    const outer = this.out;
    const instrs: Instr[] = [];
    this.out = instrs;
    this.depth++;
    fill({ depth: this.depth });
    this.depth--;
    this.out = outer;
    return instrs;
  }

  /** Runs `body` `count` times; the body changes its own pointers. */
  repeat(count: WasmAmount, name: string, body: () => void): this {
    if (count.kind === "const" && count.value <= 1) {
      if (count.value === 1) body();
      return this;
    }
    const left = this.local(name);
    this.amount(count).set(left);
    const looped = (): void => {
      this.loop((again) => {
        body();
        this.get(left).const(1).op("i32.sub").op("local.tee", left).brIf(again);
      });
    };
    if (count.kind === "const") looped();
    else this.get(left).if(looped);
    return this;
  }
}

/** Load instructions for the bits of one element, keyed by the element's size in bytes. */
export const loads = {
  1: "i32.load8_u",
  2: "i32.load16_u",
  4: "i32.load",
  8: "i64.load",
  16: "v128.load",
} as const satisfies Readonly<Record<number, PlainOp>>;
/** Store instructions for the bits of one element, keyed by the element's size in bytes. */
export const stores = {
  1: "i32.store8",
  2: "i32.store16",
  4: "i32.store",
  8: "i64.store",
  16: "v128.store",
} as const satisfies Readonly<Record<number, PlainOp>>;

/**
 * Instructions that load one element into a vector, keyed by the element's size in bytes. `every`: loads all
 * lanes. `one`: loads a single lane.
 */
export const laneLoads = {
  1: { every: "v128.load8_splat", one: "v128.load8_lane" },
  2: { every: "v128.load16_splat", one: "v128.load16_lane" },
  4: { every: "v128.load32_splat", one: "v128.load32_lane" },
  8: { every: "v128.load64_splat", one: "v128.load64_lane" },
} as const satisfies Readonly<Record<number, Readonly<Record<"every" | "one", PlainOp>>>>;

/**
 * Method of copying bytes: a fixed number of load and store instructions, a loop over vectors, or the
 * engine's routine `memory.copy`, which costs a call.
 */
export type CopyMethod = "instructions" | "vectors in a loop" | "memory.copy";

/** Beyond, the routine is worth its call: the misses of a row that lies far away overlap in it. */
const inlineCopyBytes = 512;
const unrolledCopyBytes = 256;

/**
 * Returns the method by which code copies bytes. `bytes`: length of the copy; undefined for a length that is
 * dynamic.
 */
export const copyMethod = (bytes: number | undefined): CopyMethod => {
  if (bytes === undefined || bytes > inlineCopyBytes) return "memory.copy";
  return bytes > unrolledCopyBytes ? "vectors in a loop" : "instructions";
};

/** Emits code that copies `bytes` bytes. `to`, `from`: WebAssembly locals that hold the addresses. */
export function emitCopyBytes(code: CodeBuilder, to: LocalId, from: LocalId, bytes: WasmAmount): void {
  if (bytes.kind === "local") {
    code.get(to).get(from).get(bytes.local).op("memory.copy");
    return;
  }
  const { value } = bytes;
  const method = copyMethod(value);
  switch (method) {
    case "memory.copy":
      code.get(to).get(from).const(value).op("memory.copy");
      return;
    case "vectors in a loop": {
      const step = 64;
      const source = code.local("source");
      const target = code.local("target");
      code.get(from).set(source).get(to).set(target);
      const rounds = Math.floor(value / step);
      code.repeat({ kind: "const", value: rounds }, "vectors", () => {
        unrolledCopy(code, target, source, step);
        code.advance(source, step).advance(target, step);
      });
      unrolledCopy(code, target, source, value - rounds * step);
      return;
    }
    case "instructions":
      unrolledCopy(code, to, from, value);
      return;
    default:
      assertNever(method);
  }
}

/**
 * Emits code that copies `bytes` bytes by loads and stores without a loop. `to` and `from`: locals with the
 * addresses. `toShift` and `fromShift`: byte offsets added to the addresses.
 */
export function unrolledCopy(
  code: CodeBuilder,
  to: LocalId,
  from: LocalId,
  bytes: number,
  toShift = 0,
  fromShift = 0,
): void {
  let place = 0;
  for (const size of [16, 8, 4, 2, 1] as const) {
    while (place + size <= bytes) {
      code
        .get(to)
        .get(from)
        .op(loads[size], fromShift + place)
        .op(stores[size], toShift + place);
      place += size;
    }
  }
}

/** Emits code that sets `bytes` bytes to zero. `to`: WebAssembly local that holds the first address. */
export function zeroBytes(code: CodeBuilder, to: LocalId, bytes: WasmAmount): void {
  code.get(to).const(0).amount(bytes).op("memory.fill");
}

/**
 * Emits a store of one element. `to`: WebAssembly local that holds the address. `bytes`: the element's bits
 * in 1, 2, 4, 8 or 16 bytes, little-endian.
 */
export function storeBytes(code: CodeBuilder, to: LocalId, bytes: Uint8Array): void {
  const bits = (from: number, count: number): bigint =>
    BigInt.asIntN(
      Math.max(32, 8 * count),
      bytes.slice(from, from + count).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n),
    );
  switch (bytes.length) {
    case 1:
    case 2:
    case 4:
      code.get(to).op("i32.const", bits(0, bytes.length)).op(stores[bytes.length], 0);
      return;
    case 8:
    case 16:
      for (let from = 0; from < bytes.length; from += 8)
        code.get(to).op("i64.const", bits(from, 8)).op("i64.store", from);
      return;
    default:
      throw new InternalError(`elements of ${bytes.length} B`);
  }
}

/**
 * Emits code that divides a count by `by`, a power of two. Returns the quotient (`rounds`) and the remainder
 * (`rest`), which are constants for a constant count.
 */
export function dividedBy(
  code: CodeBuilder,
  count: WasmAmount,
  by: number,
): { readonly rounds: WasmAmount; readonly rest: WasmAmount } {
  if (count.kind === "const") {
    return {
      rounds: { kind: "const", value: Math.floor(count.value / by) },
      rest: { kind: "const", value: count.value % by },
    };
  }
  const [rounds, rest] = [code.local("rounds"), code.local("rest")];
  code.get(count.local).const(Math.log2(by)).op("i32.shr_u").set(rounds);
  code
    .get(count.local)
    .const(by - 1)
    .op("i32.and")
    .set(rest);
  return { rounds: { kind: "local", local: rounds }, rest: { kind: "local", local: rest } };
}
