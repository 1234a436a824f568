/**
 * Several elements of the innermost dim, or short rows of the dim around them, a turn of the loop: by indices
 * that vectors compare together, or by entries of a table, which need no comparison.
 */
import { assertNever, at, invariant } from "../../ir/types.js";
import { range } from "../plan/runs.js";
import {
  dividedBy,
  laneLoads,
  loads,
  stores,
  unrolledCopy,
  type WasmAmount,
  type CodeBuilder,
} from "./code.js";
import type { WasmContext } from "./context.js";
import { rowsTogether, unroll, type CpuGather, type GatherStrategy } from "./gather-plan.js";
import { IndexCheck } from "./index-check.js";
import { firstIndex, listed, withLocals, type Pointers, type Shift } from "./pointers.js";
import { jammed } from "./unroll-and-jam.js";

/** Ways of moving that take several elements or rows a turn. */
type Unrolled = Exclude<GatherStrategy, { readonly by: "rows" | "one by one" }>;

/** True if a gather's strategy copies several elements or rows in one iteration. */
export const isUnrolled = (moving: GatherStrategy): moving is Unrolled =>
  moving.by !== "rows" && moving.by !== "one by one";

/** Emits so many elements or rows from these pointers on, each by its own index. */
type OneByOne = (pointers: Pointers, count: WasmAmount) => void;

/**
 * Emitter of the code of a gather that copies several elements or short rows in one iteration. The indices
 * are checked by vectors or come from a table.
 */
export class UnrolledGather {
  private readonly code: CodeBuilder;
  private readonly check: IndexCheck | undefined;
  /** Number of elements or rows that one iteration copies. */
  private readonly step: number;

  /** Emits the code before the loops, which all iterations share. */
  constructor(
    context: WasmContext,
    private readonly plan: CpuGather,
    private readonly moving: Unrolled,
  ) {
    this.code = context.code;
    this.step = moving.by === "rows together" ? rowsTogether : unroll;
    if (moving.by !== "from the table")
      this.check = new IndexCheck(context, plan, moving.vectors, moving.by === "rows together");
  }

  /**
   * Returns the sizes of the dims that have loops around the steps. A dim with unroll-and-jam has the size of
   * one part.
   */
  pieces(sizes: readonly WasmAmount[]): readonly WasmAmount[] {
    const { unrollAndJam } = this;
    return sizes.map((size, d): WasmAmount =>
      d === unrollAndJam?.dim ? { kind: "const", value: unrollAndJam.size } : size,
    );
  }

  /** Emits a number of elements or rows along their dim, for every part. */
  emit(pointers: Pointers, count: WasmAmount, oneByOne: OneByOne): void {
    const { code, step } = this;
    const { last } = this.plan;
    const shifts = this.shifts(pointers);
    const { rounds, rest } = dividedBy(code, count, step);
    const locals = listed(pointers).map(({ local, by }) => {
      if ((by[last] ?? 0) === 0) return local;
      const copy = code.local(`${at(code.locals, local).name}.at`);
      code.get(local).set(copy);
      return copy;
    });
    const inner = withLocals(pointers, locals);
    code.repeat(rounds, "rounds", () => {
      for (const shift of shifts) this.together(inner, shift, oneByOne);
      for (const { local, by } of listed(inner)) code.advance(local, step * (by[last] ?? 0));
    });
    // Entries of a table need no check, so that a few of them take no loop.
    const straight = this.moving.by === "from the table" && rest.kind === "const";
    for (const shift of shifts) {
      if (straight) this.moveChecked(inner, shift, rest.value);
      else this.each(inner, shift, rest, oneByOne);
    }
  }

  private get unrollAndJam() {
    return this.moving.by === "checked together" ? this.moving.unrollAndJam : undefined;
  }

  /** Returns the offset of each pointer in every jammed part of the dim, relative to the first part. */
  private shifts(pointers: Pointers): readonly Shift[] {
    const { unrollAndJam } = this;
    if (unrollAndJam === undefined) return [listed(pointers).map(() => 0)];
    return range(0, jammed).map((n) =>
      listed(pointers).map(({ by }) => n * unrollAndJam.size * (by[unrollAndJam.dim] ?? 0)),
    );
  }

  /** Emits the next unrolled step of a part. */
  private together(pointers: Pointers, shift: Shift, oneByOne: OneByOne): void {
    const { check, code, step } = this;
    if (check === undefined) {
      this.moveChecked(pointers, shift, step);
      return;
    }
    check.emit(pointers, shift);
    code.if(
      () => {
        this.moveChecked(pointers, shift, step);
      },
      () => {
        this.each(pointers, shift, { kind: "const", value: step }, oneByOne);
      },
    );
  }

  /** Emits elements or rows of a part, each by itself. */
  private each(pointers: Pointers, shift: Shift, count: WasmAmount, oneByOne: OneByOne): void {
    const { code } = this;
    if (count.kind === "const" && count.value === 0) return;
    const locals = listed(pointers).map(({ local }, k) => {
      const by = at(shift, k);
      if (by === 0) return local;
      const size = code.local("part");
      code.get(local).plus(by).set(size);
      return size;
    });
    oneByOne(withLocals(pointers, locals), count);
  }

  /** Moves what indices name that are known to be in range. */
  private moveChecked(pointers: Pointers, shift: Shift, count: number): void {
    const { by } = this.moving;
    switch (by) {
      case "rows together":
        this.rows(pointers, shift, count);
        return;
      case "checked together":
      case "from the table":
        this.elements(pointers, shift, count);
        return;
      default:
        assertNever(by);
    }
  }

  private rows(pointers: Pointers, shift: Shift, count: number): void {
    const { code } = this;
    const { data, last, output, run } = this.plan;
    const [outShift, dataShift] = [at(shift, 0), at(shift, 1)];
    const rows = range(0, count).map((k) => {
      const row = code.local("row");
      this.address(pointers, shift, k);
      code.set(row);
      return row;
    });
    rows.forEach((row, k) => {
      const [to, from] = [k * at(output.by, last), k * at(data.by, last)];
      unrolledCopy(code, pointers.out.local, row, run.bytes, outShift + to, dataShift + from);
    });
  }

  /** Emits a number of elements, by vectors if they are contiguous in the output. */
  private elements(pointers: Pointers, shift: Shift, count: number): void {
    const { code, plan } = this;
    const { last } = plan;
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
    const vector = code.local("moved", "v128");
    for (const first of range(0, vectors).map((k) => k * lanes)) {
      for (const lane of range(0, lanes)) {
        const offset = dataOffset(first + lane);
        this.address(pointers, shift, first + lane);
        if (lane === 0) code.op(laneLoads[unit].every, offset);
        else code.get(vector).op(laneLoads[unit].one, offset, lane);
        code.set(vector);
      }
      code
        .get(out.local)
        .get(vector)
        .op("v128.store", outShift + first * unit);
    }
    bySelf(vectors * lanes);
  }

  /**
   * Pushes the address of the data that the indices of an element or row name, but for the bytes that are
   * constant.
   */
  private address({ data, index }: Pointers, shift: Shift, number: number): void {
    const { check, code, moving, plan } = this;
    const { last } = plan;
    const load = (walk: number, offset: number): void => {
      code.get(at(index, walk).local).op("i32.load", at(shift, firstIndex + walk) + offset);
    };
    if (moving.by === "from the table") load(0, number * at(at(index, 0).by, last));
    else
      moving.resolved.forEach(({ index: position, stride }, n) => {
        const lookup = plan.lookups[position];
        invariant(lookup !== undefined, "what is checked is looked up");
        const { shift: first, walk } = lookup;
        const offset = first + number * at(at(index, walk).by, last);
        if (moving.by === "rows together") check?.value(walk, offset);
        else load(walk, offset);
        code.times(stride * plan.elementBytes);
        if (n > 0) code.op("i32.add");
      });
    code.get(data.local).op("i32.add");
  }
}

function unitOf({ elementBytes: size }: CpuGather): keyof typeof loads {
  invariant(size === 1 || size === 2 || size === 4 || size === 8 || size === 16, `elements of ${size} B`);
  return size;
}
