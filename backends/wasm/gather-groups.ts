/**
 * Elements of the innermost dim that each have an index of their own, several a turn of the loop: indices that vectors compare
 * together, or entries of a table, which need no comparison.
 */
import { stepAlong } from "../../ir/linear.js";
import { at, invariant } from "../../ir/types.js";
import { range } from "../plan/runs.js";
import { laneLoads, loads, stores, type Amount, type Code, type LocalId } from "./code.js";
import type { Context } from "./context.js";
import { unroll, type CpuGather, type Moving } from "./gather-plan.js";
import { listed, withLocals, type Pointers } from "./pointers.js";
import { jammed } from "./unroll-and-jam.js";

/** How several elements share a turn of the innermost loop. */
type Grouped = Extract<Moving, { readonly by: "checked together" | "from the table" }>;

export const isGrouped = (moving: Moving): moving is Grouped =>
  moving.by === "checked together" || moving.by === "from the table";

/** Constant bytes beyond the pointers, in the order in which they are listed. */
type Shift = readonly number[];

/** Emits so many elements from these pointers on, each by its own index. */
type OneByOne = (pointers: Pointers, count: Amount) => void;

export class ElementGroups {
  private readonly code: Code;
  private readonly last: number;
  /** The highest value in range, in every lane of a vector. */
  private readonly limit: LocalId | undefined;

  /** Emits what all groups share: stands before the loops. */
  constructor(
    context: Context,
    private readonly plan: CpuGather,
    private readonly moving: Grouped,
  ) {
    const { code } = context;
    this.code = code;
    this.last = plan.stmt.to.sizes.length - 1;
    if (moving.by === "from the table") return;
    const { rule } = at(plan.sites, moving.site);
    invariant(rule !== undefined, "what is checked has a rule");
    const { below } = context.bounds(rule);
    this.limit = code.local("limit", "v128");
    // Halves of 64 bits are compared by themselves: a high half that is not 0 is above every limit.
    if (rule.bytes === 8) code.amount(below, "i64", -1).op("i64x2.splat");
    else code.amount(below, "i32", -1).op("i32x4.splat");
    code.set(this.limit);
  }

  /** Sizes of the dims that loops stand around: of one that is jammed, a part. */
  parts(sizes: readonly Amount[]): readonly Amount[] {
    const { moving } = this;
    const jam = moving.by === "checked together" ? moving.jam : undefined;
    return sizes.map((size, d): Amount => (d === jam?.dim ? { kind: "const", value: jam.part } : size));
  }

  /** So many elements of the innermost dim, of every part. */
  emit(pointers: Pointers, count: Amount, oneByOne: OneByOne): void {
    const { code, last } = this;
    const shifts = this.shifts(pointers);
    const { rounds, rest } = split(code, count);
    const locals = listed(pointers).map(({ local, by }) => {
      if ((by[last] ?? 0) === 0) return local;
      const own = code.local(`${at(code.locals, local).name}.at`);
      code.get(local).set(own);
      return own;
    });
    const inner = withLocals(pointers, locals);
    code.repeat(rounds, "rounds", () => {
      for (const shift of shifts) this.group(inner, shift, oneByOne);
      for (const { local, by } of listed(inner)) code.advance(local, unroll * (by[last] ?? 0));
    });
    // Entries of a table need no check, so that a few of them take no loop.
    const straight = this.moving.by === "from the table" && rest.kind === "const";
    for (const shift of shifts) {
      if (straight) this.known(inner, shift, rest.value);
      else this.each(inner, shift, rest, oneByOne);
    }
  }

  /** Where each part lies beyond the first. */
  private shifts(pointers: Pointers): readonly Shift[] {
    const { moving } = this;
    const jam = moving.by === "checked together" ? moving.jam : undefined;
    if (jam === undefined) return [listed(pointers).map(() => 0)];
    return range(0, jammed).map((n) => listed(pointers).map(({ by }) => n * jam.part * (by[jam.dim] ?? 0)));
  }

  /** The next elements of a part. */
  private group(pointers: Pointers, shift: Shift, oneByOne: OneByOne): void {
    const { code } = this;
    if (this.moving.by === "from the table") {
      this.known(pointers, shift, unroll);
      return;
    }
    this.check(pointers, shift);
    code.if(
      () => {
        this.known(pointers, shift, unroll);
      },
      () => {
        this.each(pointers, shift, { kind: "const", value: unroll }, oneByOne);
      },
    );
  }

  /** Elements of a part, each by itself. */
  private each(pointers: Pointers, shift: Shift, count: Amount, oneByOne: OneByOne): void {
    const { code } = this;
    if (count.kind === "const" && count.value === 0) return;
    const locals = listed(pointers).map(({ local }, k) => {
      const by = at(shift, k);
      if (by === 0) return local;
      const own = code.local("part");
      code.get(local).plus(by).set(own);
      return own;
    });
    oneByOne(withLocals(pointers, locals), count);
  }

  /** Pushes whether the next indices all name an element as they stand. Unsigned, a negative index is above every extent. */
  private check(pointers: Pointers, shift: Shift): void {
    const { code, limit } = this;
    const { local, offset, bytes } = this.index(pointers, shift);
    invariant(limit !== undefined, "indices are checked against a limit");
    for (const k of range(0, (unroll * bytes) / 16)) {
      code.get(local).op("v128.load", offset + 16 * k);
      if (k > 0) code.op("i32x4.max_u");
    }
    code.get(limit).op("i32x4.le_u").op("i32x4.bitmask").const(0xf).op("i32.eq");
  }

  /** The pointer to the next index or entry, constant bytes beyond it, and those from one to the next. */
  private index(
    { index }: Pointers,
    shift: Shift,
  ): { readonly local: LocalId; readonly offset: number; readonly bytes: number } {
    const { moving, plan, last } = this;
    const lookup = moving.by === "checked together" ? plan.lookups[moving.site] : undefined;
    const walk = lookup?.walk ?? 0;
    const { local, by } = at(index, walk);
    return { local, offset: at(shift, firstIndex + walk) + (lookup?.shift ?? 0), bytes: by[last] ?? 0 };
  }

  /** Moves elements whose indices are known to be in range: by vectors, where they go side by side. */
  private known(pointers: Pointers, shift: Shift, count: number): void {
    const { code, last, plan } = this;
    const { out, data } = pointers;
    const [outShift, dataShift] = [at(shift, 0), at(shift, 1)];
    const unit = unitOf(plan);
    const step = out.by[last] ?? 0;
    const dataOffset = (k: number): number => dataShift + k * (data.by[last] ?? 0);
    const bySelf = (first: number): void => {
      for (const k of range(first, count)) {
        code.get(out.local);
        this.address(pointers, shift, k);
        code.op(loads[unit], dataOffset(k)).op(stores[unit], outShift + k * step);
      }
    };
    if (unit === 16 || step !== unit) {
      bySelf(0);
      return;
    }
    const lanes = 16 / unit;
    const vectors = Math.floor(count / lanes);
    const moved = code.local("moved", "v128");
    for (const first of range(0, vectors).map((k) => k * lanes)) {
      for (const lane of range(0, lanes)) {
        const offset = dataOffset(first + lane);
        this.address(pointers, shift, first + lane);
        if (lane === 0) code.op(laneLoads[unit].every, offset);
        else code.get(moved).op(laneLoads[unit].one, offset, lane);
        code.set(moved);
      }
      code
        .get(out.local)
        .get(moved)
        .op("v128.store", outShift + first * unit);
    }
    bySelf(vectors * lanes);
  }

  /** Pushes the address of the data that the index of an element names, but for the bytes that are constant. */
  private address(pointers: Pointers, shift: Shift, number: number): void {
    const { code, moving, plan } = this;
    const { local, offset, bytes } = this.index(pointers, shift);
    code.get(local).op("i32.load", offset + number * bytes);
    if (moving.by === "checked together") {
      const stride = stepAlong(plan.addresses.data, "site", moving.site) * plan.elementBytes;
      code.times(stride);
    }
    code.get(pointers.data.local).op("i32.add");
  }
}

/** Place of the first pointer to an index among those that are listed. */
const firstIndex = 2;

/** Rounds of `unroll`, and what is left. */
function split(code: Code, count: Amount): { readonly rounds: Amount; readonly rest: Amount } {
  if (count.kind === "const") {
    return {
      rounds: { kind: "const", value: Math.floor(count.value / unroll) },
      rest: { kind: "const", value: count.value % unroll },
    };
  }
  const [rounds, rest] = [code.local("rounds"), code.local("rest")];
  code.get(count.local).const(Math.log2(unroll)).op("i32.shr_u").set(rounds);
  code
    .get(count.local)
    .const(unroll - 1)
    .op("i32.and")
    .set(rest);
  return { rounds: { kind: "local", local: rounds }, rest: { kind: "local", local: rest } };
}

function unitOf({ elementBytes: size }: CpuGather): keyof typeof loads {
  invariant(size === 1 || size === 2 || size === 4 || size === 8 || size === 16, `elements of ${size} B`);
  return size;
}
