/**
 * The gather statement: loops over the output tile with pointers that only ever advance by constants.
 *
 * Indices are resolved outside the output dims they do not follow, and what lies together inside is copied as bytes.
 * Where the innermost dim is gathered element by element, several elements share a loop iteration, and their indices are
 * checked by vectors.
 */
import { assertNever, at, InternalError, invariant } from "../../ir/types.js";
import { nest, runBytes, type Pointer } from "./box.js";
import { copyBytes, loads, stores, zeroBytes, type Amount, type Code, type LocalId } from "./code.js";
import type { Context } from "./context.js";
import type { Walk } from "./places.js";
import { unroll, type GatherPlan, type SitePlan } from "./plan.js";
import { emitResolve } from "./resolve.js";
import { range } from "./runs.js";
import { cacheLine, type Table } from "./table.js";

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
    const rank = sizes.length;
    const { rule } = at(this.plan.sites, 0);
    if (rule.bytes === 8)
      code
        .op("i64.const", rule.below - 1)
        .op("i64x2.splat")
        .set(this.limit);
    else
      code
        .const(rule.below - 1)
        .op("i32x4.splat")
        .set(this.limit);
    nest(code, sizes, range(0, rank - 1), pointers, (locals) => {
      this.elementLoop(locals, pointers, at(sizes, rank - 1));
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

  /** Resolves every index of the tile once, and reads ahead what it names. */
  private fillTable(table: Table, out: Pointer, data: Pointer): Pointer {
    const { code, plan } = this;
    const { ub, layout } = this.context;
    const base = code.local("table");
    code.get(ub).plus(layout.table).set(base);
    const index = this.indexPointers();
    const entry: Pointer = { local: base, by: table.strides };
    const touched = code.local("touched");
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
      for (let line = 0; line < table.touch; line++) {
        code
          .get(touched)
          .get(place.data)
          .get(offset)
          .op("i32.add")
          .op("i32.load8_u", line * cacheLine);
        code.op("i32.xor").set(touched);
      }
      code.get(at(locals, 0));
      if (plan.mayBeNone) code.const(noEntry).get(offset).get(this.none).op("select");
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
      emitResolve(code, { rule, bad, nothing, ...(plan.reports ? { position } : {}) }, shift);
      code.times(stride);
      if (n > 0) code.op("i32.add");
    });
  }

  /** The innermost dim, gathered element by element. */
  private elementLoop(locals: readonly LocalId[], pointers: readonly Pointer[], count: Amount): void {
    const { code, plan } = this;
    const d = this.sizes.length - 1;
    const moved: Pointer[] = [];
    const own = pointers.map((pointer, k) => {
      const outer = at(locals, k);
      if ((pointer.by[d] ?? 0) === 0) return outer;
      const local = code.local(`${at(code.locals, pointer.local).name}.at`);
      code.get(outer).set(local);
      moved.push({ ...pointer, local });
      return local;
    });
    const inner = here(own);
    const step = (elements: number): void => {
      for (const { local, by } of moved) code.advance(local, elements * at(by, d));
    };
    const many = this.split(count);
    const one = (): void => {
      this.element(inner);
      step(1);
    };
    const oneByOne = (): void => {
      code.repeat({ kind: "const", value: unroll }, "slow", one);
    };
    const group = (): void => {
      for (let k = 0; k < unroll; k++) this.known(inner, k);
      step(unroll);
    };
    code.repeat(many.rounds, "rounds", () => {
      switch (plan.moving) {
        case "checked together":
          this.checkGroup(inner);
          code.if(group, oneByOne);
          break;
        case "from the table":
          group();
          break;
        case "one by one":
          oneByOne();
          break;
        case "rows":
          throw new InternalError("rows are no elements");
        default:
          assertNever(plan.moving);
      }
    });
    code.repeat(many.rest, "rest", one);
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
  private checkGroup(place: At): void {
    const { code } = this;
    const { rule, shift } = at(this.plan.sites, 0);
    const vectors = range(0, (unroll * rule.bytes) / 16);
    const load = (k: number): void => void code.get(at(place.index, 0)).op("v128.load", shift + 16 * k);
    if (rule.bytes !== 8) {
      vectors.forEach((k) => {
        load(k);
        if (k > 0) code.op("i32x4.max_u");
      });
      code.get(this.limit).op("i32x4.le_u").op("i32x4.bitmask").const(0xf).op("i32.eq");
      return;
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
  }

  /** Moves an element whose index is known to be in range. */
  private known(place: At, number: number): void {
    const { code, plan } = this;
    const d = this.sizes.length - 1;
    const index = at(place.index, 0);
    code.get(place.out);
    if (plan.table === undefined) {
      const { walk, shift, stride } = at(plan.sites, 0);
      code
        .get(index)
        .op("i32.load", shift + number * at(at(plan.indices, walk).by, d))
        .times(stride);
    } else {
      code.get(index).op("i32.load", number * at(plan.table.strides, d));
    }
    code
      .get(place.data)
      .op("i32.add")
      .op(loads[this.unit()], number * at(plan.data.by, d));
    code.op(stores[this.unit()], number * at(plan.output.by, d));
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
