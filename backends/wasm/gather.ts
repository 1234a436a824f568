/**
 * The gather statement: loops over the output tile with pointers that only ever advance by constants.
 *
 * Indices are resolved outside the output dims they do not follow, and what lies together inside is copied as bytes.
 * Where the innermost dim is gathered element by element, four elements share a loop iteration, and 32-bit indices are
 * checked four at a time.
 */
import { gatherAccesses, gatherDims, indicesFollow } from "../../ir/access.js";
import type { GatherStmt } from "../../ir/tile.js";
import { at, dtypeBytes, invariant, strides, type IndexDType } from "../../ir/types.js";
import { commonRun, nest, range, type Pointer } from "./box.js";
import { copyBytes, loads, stores, zeroBytes, type Amount, type LocalId } from "./code.js";
import type { Context, Placed } from "./context.js";
import { canBeNone, emitResolve } from "./resolve.js";
import { cacheLine, tableOf, type Table } from "./table.js";

export function emitGather(context: Context, stmt: GatherStmt): void {
  new GatherEmitter(context, stmt).emit();
}

/** Addresses of an iteration. */
interface At {
  readonly out: LocalId;
  readonly data: LocalId;
  /** Of the index, or of its entry in the table. */
  readonly index: LocalId;
  /** Of the index in the index tensor, where the index itself lies in UB. */
  readonly position: LocalId;
}

/** Elements of one iteration of the innermost loop. */
const unroll = 16;

class GatherEmitter {
  private readonly size: number;
  private readonly indexSize: number;
  private readonly data: Placed;
  private readonly indices: Placed;
  private readonly out: Placed;
  private readonly sizes: readonly Amount[];
  private readonly table: Table | undefined;
  private readonly none: LocalId;
  /** The highest element of the gather dim, in every lane of a vector. */
  private readonly limit: LocalId;
  private readonly mayBeNone: boolean;
  /** Bytes between neighbours along each output dim. */
  private readonly by: { readonly data: number[]; readonly index: number[]; readonly position: number[] };

  constructor(
    private readonly context: Context,
    private readonly stmt: GatherStmt,
  ) {
    const { func, code } = context;
    this.size = dtypeBytes[func.data.type.dtype];
    this.indexSize = dtypeBytes[func.indices.type.dtype];
    this.data = context.place(stmt.data);
    this.indices = context.place(stmt.indices);
    this.out = context.place(stmt.to);
    this.sizes = stmt.to.sizes.map((size) => context.amount(size));
    this.table = tableOf(func, stmt);
    this.none = code.local("none");
    this.limit = code.local("limit", "v128");
    this.mayBeNone = gatherDims(stmt.map).some((k) => canBeNone(stmt.oob, this.extent(k)));
    const dims = stmt.to.sizes.map((_, d) => d);
    const first = at(gatherAccesses(this.stmt.map), 0).access.at;
    const tensor = strides(func.indices.type.shape);
    const along = (by: readonly number[]): number[] =>
      dims.map((d) =>
        first.reduce((sum, c, k) => (c.kind === "dim" && c.dim === d ? sum + at(by, k) : sum), 0),
      );
    this.by = {
      data: dims.map((d) =>
        stmt.map.results.reduce(
          (sum, access, k) =>
            access.kind === "direct" && access.dim === d ? sum + at(this.data.strides, k) : sum,
          0,
        ),
      ),
      index: along(this.indices.strides),
      position: along(tensor.map((stride) => stride * this.indexSize)),
    };
  }

  emit(): void {
    const { code } = this.context;
    const last = Math.max(-1, ...indicesFollow(this.stmt.map));
    const rank = this.sizes.length;
    const out = this.pointer("out", this.out, this.out.strides);
    const data = this.pointer("data", this.data, this.by.data);
    const table = this.table === undefined ? undefined : this.fillTable(this.table, data);
    const index = table ?? this.pointer("index", this.indices, this.by.index);
    const position = table ?? this.positionPointer(index);
    const pointers = [out, data, index, position];
    const here = (locals: readonly LocalId[]): At => ({
      out: at(locals, 0),
      data: at(locals, 1),
      index: at(locals, 2),
      position: at(locals, 3),
    });
    const run = commonRun(code, this.sizes, [this.out.strides, this.by.data], this.size, last + 1);
    const elements = run.bytes.kind === "const" && run.bytes.value === this.size;
    const rowDims = range(last + 1, run.outer);
    if (elements && rank > 0 && last === rank - 1) {
      const most = this.extent(at(gatherDims(this.stmt.map), 0)) - 1;
      if (this.indexSize === 4) code.const(most).op("i32x4.splat").set(this.limit);
      else code.op("i64.const", most).op("i64x2.splat").set(this.limit);
      nest(code, this.sizes, range(0, rank - 1), pointers, (locals) => {
        this.elementLoop(here(locals), pointers, at(this.sizes, rank - 1));
      });
      return;
    }
    nest(code, this.sizes, range(0, last + 1), pointers, (locals) => {
      const { out: to, data: from } = here(locals);
      const row = code.local("row");
      this.offset(here(locals));
      code.get(from).op("i32.add").set(row);
      const inner = [
        { local: to, strides: this.out.strides },
        { local: row, strides: this.by.data },
      ];
      this.unlessNone(
        () => {
          nest(code, this.sizes, rowDims, inner, ([target, source]) => {
            copyBytes(code, target ?? to, source ?? row, run.bytes);
          });
        },
        () => {
          nest(code, this.sizes, rowDims, inner, ([target]) => {
            zeroBytes(code, target ?? to, run.bytes);
          });
        },
      );
    });
  }

  private pointer(name: string, place: Placed, by: readonly number[]): Pointer {
    const local = this.context.code.local(name);
    place.push();
    this.context.code.set(local);
    return { local, strides: by };
  }

  /** An index read in place tells its own position; one in UB needs its place in the tensor beside it. */
  private positionPointer(index: Pointer): Pointer {
    if (this.indices.param !== undefined) return index;
    const { code, func, layout } = this.context;
    const local = code.local("position");
    code.const(layout.indices);
    strides(func.indices.type.shape).forEach((stride, k) => {
      this.context.expr(at(this.stmt.origin, k));
      code.times(stride * this.indexSize).op("i32.add");
    });
    code.set(local);
    return { local, strides: this.by.position };
  }

  /** Resolves every index of the tile once, and reads ahead what it names. */
  private fillTable(table: Table, data: Pointer): Pointer {
    const { code, ub, layout } = this.context;
    const base = code.local("table");
    code.get(ub).plus(layout.table).set(base);
    const index = this.pointer("index", this.indices, this.by.index);
    const position = this.positionPointer(index);
    const entry: Pointer = { local: base, strides: table.strides };
    const touched = code.local("touched");
    nest(code, this.sizes, table.dims, [entry, data, index, position], (locals) => {
      const here = { out: 0, data: at(locals, 1), index: at(locals, 2), position: at(locals, 3) };
      const offset = code.local("offset");
      this.resolveOffset(here);
      code.set(offset);
      for (let line = 0; line < table.touch; line++) {
        code
          .get(touched)
          .get(here.data)
          .get(offset)
          .op("i32.add")
          .op("i32.load8_u", line * cacheLine);
        code.op("i32.xor").set(touched);
      }
      code.get(at(locals, 0));
      if (this.mayBeNone) code.const(noEntry).get(offset).get(this.none).op("select");
      else code.get(offset);
      code.op("i32.store", 0);
    });
    // A result that is kept keeps the loads.
    if (table.touch > 0)
      code
        .get(ub)
        .get(touched)
        .op("i32.store", layout.table + table.bytes);
    return entry;
  }

  /** Pushes the bytes that the gathered dims add to the data's address. */
  private offset(here: At): void {
    const { code } = this.context;
    if (this.table === undefined) {
      this.resolveOffset(here);
      return;
    }
    code.get(here.index).op("i32.load", 0);
    if (!this.mayBeNone) return;
    const entry = code.local("entry");
    code.set(entry).get(entry).const(noEntry).op("i32.eq").set(this.none).get(entry);
  }

  private resolveOffset(here: At): void {
    const { code, func, bad, layout } = this.context;
    const { stmt, indexSize } = this;
    const positions = strides(func.indices.type.shape);
    if (this.mayBeNone) code.const(0).set(this.none);
    gatherAccesses(this.stmt.map).forEach(({ dim: k, access }, n) => {
      // Bytes from the pointers to this component of the tuple.
      const component = (by: readonly number[], unit: number): number =>
        access.at.reduce(
          (sum, c, dim) => (c.kind === "component" ? sum + c.value * at(by, dim) * unit : sum),
          0,
        );
      code.get(here.index);
      emitResolve(
        code,
        {
          extent: this.extent(k),
          negative: access.negative,
          oob: stmt.oob,
          dtype: func.indices.type.dtype as IndexDType,
          position: () => {
            const byte = component(positions, indexSize);
            code.get(here.position).plus(byte - layout.indices);
            code.const(Math.log2(indexSize)).op("i32.shr_u");
          },
          bad,
          none: this.none,
        },
        component(this.indices.strides, 1),
      );
      code.times(at(this.data.strides, k));
      if (n > 0) code.op("i32.add");
    });
  }

  /** The innermost dim, gathered element by element. */
  private elementLoop(here: At, pointers: readonly Pointer[], count: Amount): void {
    const { code } = this.context;
    const d = this.sizes.length - 1;
    const copies = new Map<LocalId, Pointer>();
    const own = (k: number, outer: LocalId): LocalId => {
      const pointer = at(pointers, k);
      if ((pointer.strides[d] ?? 0) === 0) return outer;
      const known = copies.get(outer);
      if (known !== undefined) return known.local;
      const local = code.local(`${code.locals[pointer.local]?.name ?? "p"}.at`);
      code.get(outer).set(local);
      copies.set(outer, { ...pointer, local });
      return local;
    };
    const inner: At = {
      out: own(0, here.out),
      data: own(1, here.data),
      index: own(2, here.index),
      position: own(3, here.position),
    };
    const step = (elements: number): void => {
      for (const { local, strides: by } of copies.values()) code.advance(local, elements * at(by, d));
    };
    const many = this.split(count);
    const one = (): void => {
      this.element(inner);
      step(1);
    };
    code.repeat(many.rounds, "rounds", () => {
      const group = (): void => {
        for (let k = 0; k < unroll; k++) this.known(inner, k);
        step(unroll);
      };
      if (this.checkGroup(inner)) {
        code.if(group, () => {
          code.repeat({ kind: "const", value: unroll }, "slow", one);
        });
      } else if (this.table !== undefined && !this.mayBeNone) {
        group();
      } else {
        code.repeat({ kind: "const", value: unroll }, "slow", one);
      }
    });
    code.repeat(many.rest, "rest", one);
  }

  private split(count: Amount): { readonly rounds: Amount; readonly rest: Amount } {
    const { code } = this.context;
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

  private element(here: At): void {
    const { code } = this.context;
    const offset = code.local("offset");
    this.offset(here);
    code.get(here.data).op("i32.add").set(offset);
    this.unlessNone(
      () => {
        code.get(here.out).get(offset).op(loads[this.unit()], 0).op(stores[this.unit()], 0);
      },
      () => {
        zeroBytes(code, here.out, { kind: "const", value: this.size });
      },
    );
  }

  /**
   * Pushes whether the next indices all name an element as they stand; false where they cannot be checked together.
   * Unsigned, a negative index is above every extent.
   */
  private checkGroup(here: At): boolean {
    const { code } = this.context;
    const [only, ...others] = gatherAccesses(this.stmt.map);
    const step = this.by.index[this.sizes.length - 1];
    if (this.table !== undefined || only === undefined || others.length > 0) return false;
    if (step !== this.indexSize || this.extent(only.dim) === 0) return false;
    const vectors = range(0, (unroll * this.indexSize) / 16);
    const load = (k: number): void => void code.get(here.index).op("v128.load", 16 * k);
    if (this.indexSize === 4) {
      vectors.forEach((k) => {
        load(k);
        if (k > 0) code.op("i32x4.max_u");
      });
      code.get(this.limit).op("i32x4.le_u").op("i32x4.bitmask").const(0xf).op("i32.eq");
      return true;
    }
    // There is no unsigned compare of 64-bit lanes: below the extent, and no sign bit.
    vectors.forEach((k) => {
      code.get(this.limit);
      load(k);
      code.op("i64x2.ge_s");
      if (k > 0) code.op("v128.and");
    });
    code.op("i64x2.bitmask").const(0x3).op("i32.eq");
    vectors.forEach((k) => {
      load(k);
      if (k > 0) code.op("v128.or");
    });
    code.op("i64x2.bitmask").op("i32.eqz").op("i32.and");
    return true;
  }

  /** Moves an element whose index is known to be in range. */
  private known(here: At, shift: number): void {
    const { code } = this.context;
    const d = this.sizes.length - 1;
    code.get(here.out);
    if (this.table === undefined) {
      const k = at(gatherDims(this.stmt.map), 0);
      code
        .get(here.index)
        .op("i32.load", shift * at(this.by.index, d))
        .times(at(this.data.strides, k));
    } else {
      code.get(here.index).op("i32.load", shift * at(this.table.strides, d));
    }
    code
      .get(here.data)
      .op("i32.add")
      .op(loads[this.unit()], shift * at(this.by.data, d));
    code.op(stores[this.unit()], shift * at(this.out.strides, d));
  }

  private unlessNone(then: () => void, otherwise: () => void): void {
    const { code } = this.context;
    if (!this.mayBeNone) then();
    else code.get(this.none).op("i32.eqz").if(then, otherwise);
  }

  private unit(): keyof typeof loads {
    const { size } = this;
    invariant(size === 1 || size === 2 || size === 4 || size === 8 || size === 16, `elements of ${size} B`);
    return size;
  }

  private extent(k: number): number {
    return at(this.context.func.data.type.shape, k);
  }
}

/** A table entry of an index without an element. */
const noEntry = -1;
