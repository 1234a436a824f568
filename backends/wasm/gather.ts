/**
 * The gather statement: loops over the output tile with pointers that only ever advance by constants.
 *
 * Indices are resolved outside the output dims they do not follow, and what lies together inside is copied as bytes.
 * Where the innermost dim is gathered element by element, several elements share a loop iteration, and their indices are
 * checked by vectors.
 */
import { at, invariant } from "../../ir/types.js";
import { nest, runBytes, type Pointer } from "./box.js";
import {
  copyBytes,
  laneLoads,
  loads,
  stores,
  zeroBytes,
  type Amount,
  type Code,
  type LocalId,
} from "./code.js";
import type { Context } from "./context.js";
import { jammed } from "./jam.js";
import type { Walk } from "./places.js";
import { unroll, type GatherPlan, type SitePlan } from "./plan.js";
import { emitResolve } from "./resolve.js";
import { range } from "./runs.js";
import type { Table } from "./table.js";

export function emitGather(context: Context, plan: GatherPlan): void {
  new GatherEmitter(context, plan).emit();
}

/** Addresses of an iteration. */
interface At {
  readonly out: LocalId;
  readonly data: LocalId;
  /** Of the values of each index input; one, of the table's entry, where there is a table. */
  readonly index: readonly LocalId[];
}

/** Constant bytes beyond the addresses of an iteration. */
interface Shift {
  readonly out: number;
  readonly data: number;
  readonly index: readonly number[];
}

/** Pointers in the order of `At`. */
const here = ([out, data, ...index]: readonly LocalId[]): At => {
  invariant(out !== undefined && data !== undefined, "a gather has pointers to its output and its data");
  return { out, data, index };
};

class GatherEmitter {
  private readonly code: Code;
  private readonly sizes: readonly Amount[];
  private readonly none: LocalId;
  /** The highest element of the gather dim, in every lane of a vector. */
  private readonly limit: LocalId;

  constructor(
    private readonly context: Context,
    private readonly plan: GatherPlan,
  ) {
    this.code = context.code;
    this.sizes = plan.stmt.to.sizes.map((size) => context.amount(size));
    this.none = this.code.local("none");
    this.limit = this.code.local("limit", "v128");
  }

  emit(): void {
    const { code, plan, sizes } = this;
    const { last, run, table } = plan;
    const out = this.pointer("out", plan.output, plan.elementBytes);
    const data = this.pointer("data", plan.data, plan.elementBytes);
    const index = table === undefined ? this.indexPointers() : [this.fillTable(table, out, data)];
    const pointers = [out, data, ...index];
    if (plan.moving !== "rows") {
      this.elements(pointers);
      return;
    }
    const bytes = runBytes(code, run, sizes);
    const rowDims = range(last + 1, run.outer);
    nest(code, sizes, range(0, last + 1), pointers, (locals) => {
      const { out: to, data: from } = here(locals);
      const row = code.local("row");
      this.offset(here(locals));
      code.get(from).op("i32.add").set(row);
      const inner = [
        { local: to, by: plan.output.by },
        { local: row, by: plan.data.by },
      ];
      this.unlessNone(
        () => {
          nest(code, sizes, rowDims, inner, ([target, source]) => {
            copyBytes(code, target ?? to, source ?? row, bytes);
          });
        },
        () => {
          nest(code, sizes, rowDims, inner, ([target]) => {
            zeroBytes(code, target ?? to, bytes);
          });
        },
      );
    });
  }

  private elements(pointers: readonly Pointer[]): void {
    const { code, sizes } = this;
    const { jam, sites } = this.plan;
    const outer = sizes.slice(0, -1);
    const { rule } = at(sites, 0);
    // Halves of 64 bits are compared by themselves: a high half that is not 0 is above every limit.
    const { below } = this.context.bounds(rule);
    if (rule.bytes === 8) code.amount(below, "i64", -1).op("i64x2.splat");
    else code.amount(below, "i32", -1).op("i32x4.splat");
    code.set(this.limit);
    const parts = outer.map((size, d): Amount =>
      d === jam?.dim ? { kind: "const", value: jam.part } : size,
    );
    nest(code, parts, range(0, outer.length), pointers, (locals) => {
      this.elementLoop(locals, pointers, at(sizes, outer.length));
    });
  }

  private pointer(name: string, { memory, start, by }: Walk, elementBytes: number): Pointer {
    const local = this.code.local(name);
    this.context.address(memory, start, elementBytes);
    this.code.set(local);
    return { local, by };
  }

  private indexPointers(): Pointer[] {
    const { indices, sites } = this.plan;
    return indices.map((walk, k) => {
      const own = sites.find((site) => site.walk === k);
      invariant(own !== undefined, "a table is read by a site");
      return this.pointer("index", walk, own.rule.bytes);
    });
  }

  /** Resolves every index of the tile once. */
  private fillTable(table: Table, out: Pointer, data: Pointer): Pointer {
    const { code, plan } = this;
    const { ub, layout } = this.context;
    const base = code.local("table");
    code.get(ub).plus(layout.table).set(base);
    const index = this.indexPointers();
    const entry: Pointer = { local: base, by: table.strides };
    // The first element of those that share an index stands for them: no other comes before it.
    const written = plan.reports ? out : { local: out.local, by: [] };
    nest(code, this.sizes, table.dims, [entry, data, ...index, written], (locals) => {
      const place = {
        out: at(locals, locals.length - 1),
        data: at(locals, 1),
        index: locals.slice(2, -1),
      };
      const offset = code.local("offset");
      this.resolveOffset(place);
      code.set(offset);
      code.get(at(locals, 0));
      if (plan.mayBeNone) code.const(noEntry).get(offset).get(this.none).op("select");
      else code.get(offset);
      code.op("i32.store", 0);
    });
    return entry;
  }

  /** Pushes the bytes that the sites add to the data's address. */
  private offset(place: At): void {
    const { code, plan } = this;
    if (plan.table === undefined) {
      this.resolveOffset(place);
      return;
    }
    code.get(at(place.index, 0)).op("i32.load", 0);
    if (!plan.mayBeNone) return;
    const entry = code.local("entry");
    code.set(entry).get(entry).const(noEntry).op("i32.eq").set(this.none).get(entry);
  }

  private resolveOffset(place: At): void {
    const { code, none, plan } = this;
    if (plan.mayBeNone) code.const(0).set(none);
    plan.sites.forEach(({ walk, shift, rule, stride }: SitePlan, n) => {
      code.get(at(place.index, walk));
      const position = (): void => {
        this.context.outputNumber(place.out, plan.elementBytes);
      };
      const nothing = (): void => {
        if (rule.mayBeNone) code.const(1).set(none);
      };
      const { bad } = this.context;
      const bounds = this.context.bounds(rule);
      emitResolve(code, { rule, bounds, bad, nothing, ...(plan.reports ? { position } : {}) }, shift);
      code.times(stride);
      if (n > 0) code.op("i32.add");
    });
  }

  /** The innermost dim, gathered element by element, of every part that is jammed. */
  private elementLoop(locals: readonly LocalId[], pointers: readonly Pointer[], count: Amount): void {
    const { code, plan } = this;
    const own = pointers.map(({ by }, k) => ({ local: at(locals, k), by: [at(by, this.last)] }));
    const shifts = this.shifts();
    if (plan.moving === "one by one") {
      this.oneByOne(own, this.noShift(), count);
      return;
    }
    const { rounds, rest } = this.split(count);
    const inner = own.map((pointer) => {
      if (at(pointer.by, 0) === 0) return pointer;
      const local = code.local(`${at(code.locals, pointer.local).name}.at`);
      code.get(pointer.local).set(local);
      return { ...pointer, local };
    });
    code.repeat(rounds, "rounds", () => {
      for (const shift of shifts) this.group(inner, shift);
      for (const { local, by } of inner) code.advance(local, unroll * at(by, 0));
    });
    // Entries of a table need no check, so that a few of them take no loop.
    const straight = plan.moving === "from the table" && rest.kind === "const";
    const place = here(inner.map(({ local }) => local));
    for (const shift of shifts) {
      if (straight) this.known(place, shift, rest.value);
      else this.oneByOne(inner, shift, rest);
    }
  }

  /** The next elements of a part. */
  private group(pointers: readonly Pointer[], shift: Shift): void {
    const { code, plan } = this;
    const place = here(pointers.map(({ local }) => local));
    if (plan.moving === "from the table") {
      this.known(place, shift, unroll);
      return;
    }
    this.checkGroup(place, shift);
    code.if(
      () => {
        this.known(place, shift, unroll);
      },
      () => {
        this.oneByOne(pointers, shift, { kind: "const", value: unroll });
      },
    );
  }

  /** Elements of a part, each by itself. */
  private oneByOne(pointers: readonly Pointer[], { out, data, index }: Shift, count: Amount): void {
    const { code } = this;
    if (count.kind === "const" && count.value === 0) return;
    const shifted = pointers.map((pointer, k) => {
      const by = at([out, data, ...index], k);
      if (by === 0) return pointer;
      const local = code.local("part");
      code.get(pointer.local).plus(by).set(local);
      return { ...pointer, local };
    });
    nest(code, [count], [0], shifted, (locals) => {
      this.element(here(locals));
    });
  }

  /** Where each part lies beyond the first. */
  private shifts(): readonly Shift[] {
    const { data, indices, jam, output } = this.plan;
    if (jam === undefined) return [this.noShift()];
    return range(0, jammed).map((n) => {
      const by = (walk: Walk): number => n * jam.part * at(walk.by, jam.dim);
      return { out: by(output), data: by(data), index: indices.map(by) };
    });
  }

  private noShift(): Shift {
    const { indices, table } = this.plan;
    return { out: 0, data: 0, index: table === undefined ? indices.map(() => 0) : [0] };
  }

  private get last(): number {
    return this.sizes.length - 1;
  }

  private split(count: Amount): { readonly rounds: Amount; readonly rest: Amount } {
    const { code } = this;
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

  private element(place: At): void {
    const { code } = this;
    const offset = code.local("offset");
    this.offset(place);
    code.get(place.data).op("i32.add").set(offset);
    this.unlessNone(
      () => {
        code.get(place.out).get(offset).op(loads[this.unit()], 0).op(stores[this.unit()], 0);
      },
      () => {
        zeroBytes(code, place.out, { kind: "const", value: this.plan.elementBytes });
      },
    );
  }

  /**
   * Pushes whether the next indices all name an element as they stand. Unsigned, a negative index is above every extent.
   */
  private checkGroup(place: At, { index }: Shift): void {
    const { code } = this;
    const { rule, shift } = at(this.plan.sites, 0);
    for (const k of range(0, (unroll * rule.bytes) / 16)) {
      code.get(at(place.index, 0)).op("v128.load", at(index, 0) + shift + 16 * k);
      if (k > 0) code.op("i32x4.max_u");
    }
    code.get(this.limit).op("i32x4.le_u").op("i32x4.bitmask").const(0xf).op("i32.eq");
  }

  /** Moves elements whose indices are known to be in range: by vectors, where they go side by side. */
  private known(place: At, shift: Shift, count: number): void {
    const { code, plan } = this;
    const unit = this.unit();
    const step = at(plan.output.by, this.last);
    const bySelf = (first: number): void => {
      for (const k of range(first, count)) {
        code.get(place.out);
        this.knownAddress(place, shift, k);
        code.op(loads[unit], this.dataOffset(shift, k)).op(stores[unit], shift.out + k * step);
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
        const offset = this.dataOffset(shift, first + lane);
        this.knownAddress(place, shift, first + lane);
        if (lane === 0) code.op(laneLoads[unit].every, offset);
        else code.get(moved).op(laneLoads[unit].one, offset, lane);
        code.set(moved);
      }
      code
        .get(place.out)
        .get(moved)
        .op("v128.store", shift.out + first * unit);
    }
    bySelf(vectors * lanes);
  }

  /** Pushes the address of the data that the index of an element names, but for the bytes that are constant. */
  private knownAddress(place: At, { index }: Shift, number: number): void {
    const { code, plan } = this;
    code.get(at(place.index, 0));
    if (plan.table === undefined) {
      const { walk, shift, stride } = at(plan.sites, 0);
      const by = at(at(plan.indices, walk).by, this.last);
      code.op("i32.load", at(index, 0) + shift + number * by).times(stride);
    } else {
      code.op("i32.load", number * at(plan.table.strides, this.last));
    }
    code.get(place.data).op("i32.add");
  }

  private dataOffset({ data }: Shift, number: number): number {
    return data + number * at(this.plan.data.by, this.last);
  }

  private unlessNone(then: () => void, otherwise: () => void): void {
    const { code, plan } = this;
    if (!plan.mayBeNone) then();
    else code.get(this.none).op("i32.eqz").if(then, otherwise);
  }

  private unit(): keyof typeof loads {
    const { elementBytes: size } = this.plan;
    invariant(size === 1 || size === 2 || size === 4 || size === 8 || size === 16, `elements of ${size} B`);
    return size;
  }
}

/** A table entry of an index without an element. */
const noEntry = -1;
