/**
 * The gather statement: loops over the output tile with pointers that only ever advance by constants.
 *
 * Index values are read as soon as the dims that they follow are known, and what lies together behind the
 * last of them is copied as bytes. The first value that names no element ends all that lies inside its stage,
 * which gets the fill instead.
 */
import { reductionDim } from "../../ir/access.js";
import { constant, dimsOf, mod, scale, sub, type Linear } from "../../ir/linear.js";
import { at, invariant } from "../../ir/types.js";
import type { ValuePlan } from "../../ir/values/index.js";
import { indexBytes } from "../../ir/policy.js";
import { isReadInReduction } from "../plan/gather.js";
import type { PagedDims } from "../plan/page.js";
import { commonRun, range } from "../plan/runs.js";
import type { Stage } from "../plan/stages.js";
import { movingAlong, nest, runBytes, type Pointer } from "./copy-region.js";
import {
  dividedBy,
  emitCopyBytes,
  storeBytes,
  zeroBytes,
  type WasmAmount,
  type CodeBuilder,
  type IntegerLocals,
  type Label,
  type LocalId,
} from "./code.js";
import type { WasmContext, FormScope } from "./context.js";
import type { CpuGather } from "./gather-plan.js";
import { UnrolledGather, isUnrolled } from "./unrolled-gather.js";
import type { PointerWalk } from "./memory-addresses.js";
import { listed, withLocals, type Pointers } from "./pointers.js";
import { reportBad } from "./resolve.js";
import type { Table } from "./table.js";
import { emitValue, type EachElement, type ReadAddresses } from "./values.js";
import { emitVectorValues } from "./vector-values.js";
import { emitSum, emitIndexOperand, emitRead } from "./index-value.js";

/**
 * Emits the code of a gather statement: loops over the output tile that look up indices and copy or compute
 * elements.
 */
export function emitGather(context: WasmContext, plan: CpuGather): void {
  new GatherEmitter(context, plan).emit();
}

/**
 * Output dims inside a stage of a gather ({@link Stage}): the dims from `first` on. The dims from `fullDims`
 * on are inside with all their elements.
 */
interface Inside {
  readonly first: number;
  readonly fullDims: number;
  readonly sizes: readonly WasmAmount[];
  /** True where it is the elements of one unrolled step: no loop goes over them. */
  readonly isStep?: boolean;
}

/** Values of the index operands that were read, by number. */
type Values = Map<number, IntegerLocals>;

class GatherEmitter {
  private readonly code: CodeBuilder;
  private readonly sizes: readonly WasmAmount[];
  /** The output dims whose coordinates forms are over. */
  private readonly dims: readonly number[];
  private readonly stages: readonly Stage[];
  /**
   * Emitter of the innermost loop if several elements or rows share one of its unrolled steps; undefined
   * otherwise.
   */
  private unrolled: UnrolledGather | undefined;

  constructor(
    private readonly context: WasmContext,
    private readonly plan: CpuGather,
  ) {
    this.code = context.code;
    this.sizes = plan.stmt.to.sizes.map((size) => context.amount(size));
    this.dims = dimsUsed(plan);
    this.stages = plan.table === undefined ? plan.stages : [afterTable(plan.last)];
  }

  emit(): void {
    const { code, plan } = this;
    const coords = this.dims.map((d): Pointer => {
      const local = code.local(`d${d}`);
      code.const(0).set(local);
      return { local, by: Array.from({ length: d + 1 }, (_, k) => (k === d ? 1 : 0)) };
    });
    const pointers: Pointers = {
      out: this.pointer("out", plan.output),
      data: this.pointer("data", plan.data),
      reads: plan.reads.map((walk) => this.pointer("read", walk)),
      index: plan.indices.map((walk) => this.pointer("index", walk)),
      coords,
    };
    const { moving, table } = plan;
    this.unrolled = isUnrolled(moving) ? new UnrolledGather(this.context, plan, moving) : undefined;
    if (table === undefined) this.stage(0, pointers, new Map());
    else this.stage(0, { ...pointers, index: [this.fillTable(table, pointers)], coords: [] }, new Map());
  }

  private pointer(name: string, { memory, start, by, elementBytes, packed }: PointerWalk): Pointer {
    const local = this.code.local(name);
    if (packed) this.context.value(start);
    else this.context.address(memory, start, elementBytes);
    this.code.set(local);
    return { local, by };
  }

  /** Emits the index operands of a stage, and everything inside it. */
  private stage(k: number, pointers: Pointers, values: Values): void {
    const { code, plan, sizes } = this;
    const stage = at(this.stages, k);
    const outer = k === 0 ? 0 : at(this.stages, k - 1).dim + 1;
    const isLast = k === this.stages.length - 1;
    const loops = (
      dims: readonly number[],
      advanced: readonly WasmAmount[],
      body: (inner: Pointers) => void,
    ): void => {
      nest(code, advanced, dims, listed(pointers), (locals) => {
        body(withLocals(pointers, locals));
      });
    };
    const rest: Inside = { first: stage.dim + 1, fullDims: stage.dim + 1, sizes };
    const { unrolled } = this;
    if (isLast && unrolled !== undefined) {
      loops(range(outer, stage.dim), unrolled.pieces(sizes), (inner) => {
        unrolled.emit(inner, at(sizes, stage.dim), (from, count) => {
          const extents = sizes.map((size, d) => (d === stage.dim ? count : size));
          nest(code, extents, [stage.dim], listed(from), (locals) => {
            this.inside(k, withLocals(from, locals), values, rest);
          });
        });
      });
      return;
    }
    if (isLast && plan.values !== undefined) {
      this.elements(range(outer, stage.dim + 1), sizes, pointers, (inner, step) => {
        this.inside(k, inner, values, step ?? rest);
      });
      return;
    }
    const page = isLast ? plan.page : undefined;
    if (page === undefined) {
      loops(range(outer, stage.dim + 1), sizes, (inner) => {
        this.inside(k, inner, values, rest);
      });
      return;
    }
    loops(range(outer, stage.dim), sizes, (inner) => {
      this.byPages(page, inner, values, (from, counted) => {
        this.inside(k, from, values, { first: stage.dim, fullDims: stage.dim + 1, sizes: counted });
      });
    });
  }

  /** Reads the index operands of a stage, then goes on with what lies inside: the next stage, or the row. */
  private inside(k: number, pointers: Pointers, values: Values, inside: Inside): void {
    const { context } = this;
    const stage = at(this.stages, k);
    this.ending(stage, inside, pointers.out, (none) => {
      const isLast = k === this.stages.length - 1;
      const computes = this.plan.values !== undefined;
      let advanced = pointers;
      context.at(this.pointAt(pointers, values), () => {
        for (const index of stage.indices) values.set(index, this.emitIndex(index, pointers, values, none));
        if (!computes)
          advanced = { ...advanced, data: { ...advanced.data, local: this.added(stage, pointers, none) } };
        else if (isLast) advanced = { ...advanced, reads: this.reached(pointers, false) };
      });
      if (!isLast) this.stage(k + 1, advanced, values);
      else if (computes) this.computed(inside, advanced, values);
      else this.row(inside, advanced);
    });
  }

  private pointAt({ coords }: Pointers, indices: Values): FormScope {
    return {
      ranges: this.plan.ranges,
      dims: new Map(coords.map(({ local }, n) => [at(this.dims, n), local])),
      indices,
    };
  }

  /** Returns the pointer to the data with what a stage adds to it: its own, or that of the table's entry. */
  private added({ adds }: Stage, { data, index }: Pointers, none: Label | undefined): LocalId {
    const { code, context, plan } = this;
    if (plan.table === undefined && adds.terms.length === 0) return data.local;
    const row = code.local("row");
    const { table } = plan;
    if (table === undefined) context.value(scale(adds, plan.elementBytes));
    else {
      const entry = code.local("entry");
      code.get(at(index, 0).local).op("i32.load", 0).set(entry);
      if (none !== undefined) code.get(entry).const(table.none).op("i32.eq").brIf(none);
      code.get(entry);
    }
    code.get(data.local).op("i32.add").set(row);
    return row;
  }

  /** Looks up every index of the tile once: an entry is what the index operands add to the data's address. */
  private fillTable(table: Table, { out, reads, index, coords }: Pointers): Pointer {
    const { code, context, plan, sizes } = this;
    const entry: Pointer = { local: code.local("table"), by: table.strides };
    code.get(context.ub).plus(context.layout.table).set(entry.local);
    // The first element of those that share an index stands for them: no other comes before it.
    const written: Pointers = {
      out: plan.reports ? out : { ...out, by: [] },
      data: entry,
      reads,
      index,
      coords,
    };
    nest(code, sizes, table.dims, listed(written), (locals) => {
      const target = withLocals(written, locals);
      const values: Values = new Map();
      const offset = code.local("offset");
      const lookUp = (none: Label | undefined): void => {
        context.at(this.pointAt(target, values), () => {
          for (const { index } of plan.indexSteps)
            values.set(index, this.emitIndex(index, target, values, none));
          context.value(table.offset);
        });
        code.set(offset);
      };
      if (plan.mayBeNone) code.const(table.none).set(offset).block(lookUp);
      else lookUp(undefined);
      code.get(target.data.local).get(offset).op("i32.store", 0);
    });
    return entry;
  }

  /** Emits the loop of the dim `last` by pages. `body` gets the number of elements left in a page. */
  private byPages(
    { form, by }: PagedDims,
    pointers: Pointers,
    values: Values,
    body: (pointers: Pointers, sizes: readonly WasmAmount[]) => void,
  ): void {
    const { code, context } = this;
    const { last } = this.plan;
    const [left, count] = [code.local("left"), code.local("count")];
    const moving = movingAlong(code, last, listed(pointers));
    const target = withLocals(
      pointers,
      moving.map(({ local }) => local),
    );
    code.amount(at(this.sizes, last)).set(left);
    code.get(left).if(() => {
      code.loop((again) => {
        context.at(this.pointAt(target, values), () => {
          context.value(sub(constant(by), mod(form, by)));
        });
        code.set(count).get(count).get(left).get(count).get(left).op("i32.lt_u").op("select").set(count);
        body(
          target,
          this.sizes.map((size, d): WasmAmount => (d === last ? { kind: "local", local: count } : size)),
        );
        for (const { local, by: steps } of moving) {
          const step = steps[last] ?? 0;
          if (step !== 0) code.get(local).get(count).times(step).op("i32.add").set(local);
        }
        code.get(left).get(count).op("i32.sub").op("local.tee", left).brIf(again);
      });
    });
  }

  /**
   * Runs `body`, which leaves for `none` where what lies inside a stage has no element; that has the fill
   * instead.
   */
  private ending(
    { indices }: Stage,
    inside: Inside,
    to: Pointer,
    body: (none: Label | undefined) => void,
  ): void {
    const { code, plan } = this;
    const ends =
      plan.table === undefined
        ? indices.some((index) => at(plan.indexSteps, index).rule?.mayBeNone === true)
        : plan.mayBeNone;
    if (!ends) {
      body(undefined);
      return;
    }
    code.block((done) => {
      code.block((none) => {
        body(none);
        code.br(done);
      });
      this.fill(inside, to);
    });
  }

  /**
   * Reads an index operand: what holds its value. One that is reported is 0 from there on, in range for
   * whatever is read by it.
   */
  private emitIndex(
    number: number,
    pointers: Pointers,
    values: Values,
    none: Label | undefined,
  ): IntegerLocals {
    const { code, context, plan } = this;
    const step = at(plan.indexSteps, number);
    const { ends, rule } = step;
    const position = (): void => {
      context.outputNumber(pointers.out.local, plan.elementBytes);
    };
    const element = emitIndexOperand(context, step, this.raw(number, pointers), {
      nothing() {
        if (rule?.mayBeNone === true && none !== undefined) code.br(none);
      },
      ...(plan.reports ? { position } : {}),
    });
    if (ends !== undefined && rule !== undefined && plan.reports) {
      // A bag may have no more terms than its most.
      code.get(narrow(element)).get(narrow(values.get(ends.from)));
      code.op("i32.sub").const(ends.max).op("i32.gt_s");
      code.if(() => {
        reportBad(code, context.bad, position);
      });
    }
    return element;
  }

  /**
   * Returns an index operand's value as it stands. Of a read under a policy, in the width of its table; else
   * exact, with its sign.
   */
  private raw(number: number, { index }: Pointers): IntegerLocals {
    const { code, context, plan } = this;
    const { form, rule } = at(plan.indexSteps, number);
    const lookup = plan.lookups[number];
    if (lookup === undefined) return emitSum(context, form);
    const { walk, shift, dtype } = lookup;
    const { beyond } = at(plan.indices, walk);
    code.get(at(index, walk).local);
    if (beyond.terms.length > 0) {
      context.value(scale(beyond, indexBytes(dtype)));
      code.op("i32.add");
    }
    return emitRead(code, dtype, rule, shift);
  }

  /**
   * Returns the pointers to what an element, or a term of it, is made from, with all that index values add.
   */
  private reached({ reads }: Pointers, inReduction: boolean): readonly Pointer[] {
    const { code, context, plan } = this;
    return reads.map((pointer, k) => {
      const { beyond, elementBytes } = at(plan.reads, k);
      if (
        beyond.terms.length === 0 ||
        isReadInReduction(beyond, plan.indexSteps, plan.stmt.map) !== inReduction
      )
        return pointer;
      const local = code.local("from");
      context.value(scale(beyond, elementBytes));
      code.get(pointer.local).op("i32.add").set(local);
      return { ...pointer, local };
    });
  }

  /** Emits the computed elements after the index operands, each by its steps. */
  private computed({ first, isStep, sizes }: Inside, pointers: Pointers, values: Values): void {
    if (isStep === true) {
      this.stepOfElements(pointers, values);
      return;
    }
    // Where no terms are to come, all index values are known.
    const left =
      this.valuePlan.reduction === undefined
        ? { ...pointers, data: { ...pointers.data, by: [] }, index: [], coords: [] }
        : pointers;
    this.elements(range(first, sizes.length), sizes, left, (advanced, step) => {
      if (step === undefined) this.element(advanced, values);
      else this.stepOfElements(advanced, values);
    });
  }

  private element(pointers: Pointers, values: Values): void {
    const each = this.elementsFrom(pointers, values);
    emitValue(this.code, this.valuePlan, this.addresses(pointers.reads), each, pointers.out.local);
  }

  private stepOfElements(pointers: Pointers, values: Values): void {
    const { unrolled } = this.plan;
    invariant(unrolled !== undefined, "a step has its plan");
    const [each, reads] = [this.elementsFrom(pointers, values), this.addresses(pointers.reads)];
    emitVectorValues(this.code, this.valuePlan, reads, each, unrolled, pointers.out.local);
  }

  private get valuePlan(): ValuePlan {
    const { values } = this.plan;
    invariant(values !== undefined, "the gather computes");
    return values;
  }

  private addresses(reads: readonly Pointer[]): ReadAddresses {
    return {
      addresses: reads.map(({ local }) => local),
      memory: (read) => {
        this.context.first(at(this.plan.reads, read).memory);
      },
    };
  }

  private elementsFrom(pointers: Pointers, values: Values): EachElement {
    return (take) => {
      this.eachElement(pointers, values, (reads) => {
        take(this.addresses(reads));
      });
    };
  }

  /**
   * Emits loops over some dims, outermost first. The innermost output dim goes by unrolled steps if there are
   * any; the elements that are left go one by one. `step`: the extents inside one step.
   */
  private elements(
    dims: readonly number[],
    sizes: readonly WasmAmount[],
    pointers: Pointers,
    body: (pointers: Pointers, step?: Inside) => void,
  ): void {
    const { code, plan } = this;
    const dim = sizes.length - 1;
    const { unrolled } = plan;
    if (unrolled === undefined || dims[dims.length - 1] !== dim) {
      nest(code, sizes, dims, listed(pointers), (locals) => {
        body(withLocals(pointers, locals));
      });
      return;
    }
    const { elements } = unrolled;
    const sized = (count: WasmAmount): readonly WasmAmount[] =>
      sizes.map((size, d) => (d === dim ? count : size));
    const step: Inside = {
      first: dim,
      fullDims: sizes.length,
      sizes: sized({ kind: "const", value: elements }),
      isStep: true,
    };
    nest(code, sizes, dims.slice(0, -1), listed(pointers), (locals) => {
      const { rounds, rest } = dividedBy(code, at(sizes, dim), elements);
      const moving = movingAlong(code, dim, listed(withLocals(pointers, locals)));
      const inner = withLocals(
        pointers,
        moving.map(({ local }) => local),
      );
      code.repeat(rounds, "steps", () => {
        body(inner, step);
        for (const { local, by } of moving) code.advance(local, elements * (by[dim] ?? 0));
      });
      if (rest.kind === "const" && rest.value === 0) return;
      nest(code, sized(rest), [dim], moving, (advanced) => {
        body(withLocals(inner, advanced));
      });
    });
  }

  /**
   * Emits the loop over the reduction elements of an output element, in order. `take` gets the pointers to
   * the reads of one reduction element. Reduction elements without a value are left out.
   */
  private eachElement(pointers: Pointers, values: Values, take: (reads: readonly Pointer[]) => void): void {
    const { code, context, plan } = this;
    const { map } = plan.stmt;
    const r = reductionDim(map);
    const { count, from } = this.lengthOf(values);
    const first = listed(pointers).map((pointer): Pointer => {
      const step = pointer.by[r] ?? 0;
      if (from === undefined || step === 0) return pointer;
      const local = code.local("first");
      code.get(pointer.local).get(from).times(step).op("i32.add").set(local);
      return { ...pointer, local };
    });
    const sizes = [...this.sizes, count];
    nest(code, sizes, [r], first, (locals) => {
      const advanced = withLocals(pointers, locals);
      const inner: Values = new Map(values);
      const body = (none: Label | undefined): void => {
        let reads = advanced.reads;
        context.at(this.pointAt(advanced, inner), () => {
          for (const { index, inReduction } of plan.indexSteps)
            if (inReduction) inner.set(index, this.emitIndex(index, advanced, inner, none));
          reads = this.reached(advanced, true);
        });
        take(reads);
      };
      const mayEnd = plan.indexSteps.some(({ rule, inReduction }) => inReduction && rule?.mayBeNone === true);
      if (mayEnd) code.block(body);
      else body(undefined);
    });
  }

  /**
   * Returns the number of reduction elements of an output element, and for a segment the local that holds its
   * first r. Emits the code that computes the number for a segment.
   */
  private lengthOf(values: Values): { readonly count: WasmAmount; readonly from?: LocalId } {
    const { code } = this;
    const { max, segment } = this.plan.stmt.map.reduced ?? { max: 0 };
    if (segment === undefined) return { count: { kind: "const", value: max } };
    const [from, to] = [segment.from, segment.to].map((index) => narrow(values.get(index)));
    invariant(from !== undefined && to !== undefined, "a bag has two ends");
    const count = code.local("count");
    code.get(to).get(from).op("i32.sub").const(0).get(to).get(from).op("i32.gt_s").op("select").set(count);
    // One that is too long is reported.
    code.get(count).const(max).get(count).const(max).op("i32.lt_u").op("select").set(count);
    return { count: { kind: "local", local: count }, from };
  }

  /** Emits the copies of elements that are contiguous after the index operands. */
  private row({ first, sizes }: Inside, { out, data }: Pointers): void {
    const { code, plan } = this;
    const { rowBy, run } = plan;
    const bytes = runBytes(code, run, sizes);
    nest(code, sizes, range(first, run.outer), [out, { ...data, by: rowBy }], (locals) => {
      emitCopyBytes(code, at(locals, 0), at(locals, 1), bytes);
    });
  }

  /** Emits the fill of all elements inside. */
  private fill({ first, fullDims, sizes }: Inside, out: Pointer): void {
    const { code } = this;
    const { elementBytes, fill, stmt } = this.plan;
    const run = commonRun(stmt.to.sizes, [out.by], elementBytes, fullDims);
    if (run.outer < sizes.length && fill.every((byte) => byte === 0)) {
      const bytes = runBytes(code, run, sizes);
      nest(code, sizes, range(first, run.outer), [out], ([target]) => {
        zeroBytes(code, target ?? out.local, bytes);
      });
      return;
    }
    nest(code, sizes, range(first, sizes.length), [out], ([target]) => {
      storeBytes(code, target ?? out.local, fill);
    });
  }
}

/** Returns the local of an index value with a bound. */
function narrow(local: IntegerLocals | undefined): LocalId {
  invariant(typeof local === "number", "an index value with a bound is in one local");
  return local;
}

/** Returns the stage of a gather whose index values were looked up before. */
const afterTable = (last: number): Stage => ({ dim: last, indices: [], adds: constant(0) });

/**
 * Returns the output dims whose coordinates the emitted code needs, in ascending order. Coordinates are
 * needed for sums with index values, quotients, remainders and pages.
 */
function dimsUsed({ addresses, indices, lookups, stages, page, reads }: CpuGather): number[] {
  const sums = addresses.indices.filter((_, index) => lookups[index] === undefined);
  const forms: readonly Linear[] = [
    ...sums,
    ...indices.map(({ beyond }) => beyond),
    ...stages.map(({ adds }) => adds),
    ...reads.map(({ beyond }) => beyond),
    ...(page === undefined ? [] : [page.form]),
  ];
  return [...new Set(forms.flatMap(dimsOf))].sort((a, b) => a - b);
}
