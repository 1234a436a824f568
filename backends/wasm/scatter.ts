/**
 * The scatter statement: loops over the points of a tile in order. A point that writes nothing ends all that
 * shares its index value.
 */
import { fillBytes, reductionDim } from "../../ir/access.js";
import { outputOf } from "../../ir/func.js";
import { add, dim, scale, stepAlong, sumOf } from "../../ir/linear.js";
import { indexBytes } from "../../ir/policy.js";
import { ubBytes, type FillStmt, type UbBuffer } from "../../ir/tile.js";
import { at, bytesOf, elementCount, invariant, isPacked, strides } from "../../ir/types.js";
import {
  dividedBy,
  emitCopyBytes,
  storeBytes,
  type IntegerLocals,
  type Label,
  type LocalId,
  type WasmAmount,
} from "./code.js";
import type { WasmContext } from "./context.js";
import { runBytes } from "./copy-region.js";
import { emitSum, emitIndexOperand, emitRead } from "./index-value.js";
import { isReduced, unitBytes, type CpuScatter, type PlacedElement } from "./scatter-plan.js";
import type { UnrolledValues } from "./unrolled-values.js";
import { emitValue, type EachElement, type ReadAddresses } from "./values.js";
import { emitVectorValues } from "./vector-values.js";

/**
 * Emits the code of a scatter statement: loops over all points of the domain. Emits nothing for an empty
 * domain.
 */
export function emitScatter(context: WasmContext, plan: CpuScatter): void {
  if (elementCount(plan.map.domain) === 0) return;
  new ScatterEmitter(context, plan).level(0);
}

/**
 * Emits code that writes the bits of a fill statement to every element of a buffer in the unified buffer
 * (UB).
 */
export function emitFill(context: WasmContext, { bits }: FillStmt, buffer: UbBuffer): void {
  const { code } = context;
  const { dtype } = outputOf(context.plan.source).type;
  const element = fillBytes({ fill: bits }, dtype);
  const [to, end] = [code.local("to"), code.local("end")];
  context.first({ kind: "ub", buffer });
  code.set(to);
  code.get(to).plus(ubBytes(buffer)).set(end);
  code.loop((again) => {
    storeBytes(code, to, element);
    code.advance(to, element.length);
    code.get(to).get(end).op("i32.lt_u").brIf(again);
  });
}

/** Addresses of the elements of a point. */
interface Addresses {
  readonly to: LocalId;
  readonly reads: readonly LocalId[];
}

class ScatterEmitter {
  private readonly rank: number;
  private readonly sizes: readonly WasmAmount[];
  private readonly dims: readonly LocalId[];
  private readonly bytes: WasmAmount;
  private readonly values = new Map<number, IntegerLocals>();

  constructor(
    private readonly context: WasmContext,
    private readonly plan: CpuScatter,
  ) {
    const { code } = context;
    this.rank = plan.map.domain.length;
    this.sizes = plan.stmt.sizes.map((size) => context.amount(size));
    this.dims = plan.stmt.sizes.map((_, d) => code.local(`d${d}`));
    this.bytes = runBytes(code, plan.run, this.sizes);
    for (const local of this.dims) code.const(0).set(local);
  }

  /** Emits all inside the dims before `d`, whose index values come first. */
  level(d: number): void {
    const { plan } = this;
    const { code } = this.context;
    const indices = plan.stages.flatMap((stage) => (stage.dim === d - 1 ? stage.indices : []));
    if (indices.length === 0) {
      this.inside(d);
      return;
    }
    code.block((none) => {
      for (const index of indices) this.scoped(() => this.values.set(index, this.index(index, none)));
      this.inside(d);
    });
  }

  private inside(d: number): void {
    const { plan, rank } = this;
    if (d === plan.run.outer && d < rank) this.copied();
    else if (d === rank) this.element(this.addresses());
    else if (d === rank - 1 && plan.isLine) this.line();
    else
      this.loop(d, () => {
        this.level(d + 1);
      });
  }

  private loop(d: number, body: () => void): void {
    const { code } = this.context;
    const local = at(this.dims, d);
    code.const(0).set(local);
    code.repeat(at(this.sizes, d), `n${d}`, () => {
      body();
      code.advance(local, 1);
    });
    code.const(0).set(local);
  }

  /** Emits what is over the dims and index values at hand. */
  private scoped(body: () => void, r?: LocalId): void {
    const dims = new Map(this.dims.entries());
    if (r !== undefined) dims.set(reductionDim(this.plan.map), r);
    this.context.at({ ranges: this.plan.ranges, dims, indices: this.values }, body);
  }

  /** Emits the run of points that are copied at once. */
  private copied(): void {
    const { reads, written } = this.plan;
    emitCopyBytes(this.context.code, this.address(written), this.address(at(reads, 0)), this.bytes);
  }

  /** Emits the points along the innermost dim, by pointers that advance. */
  private line(): void {
    const { code } = this.context;
    const { reads, unrolled, written } = this.plan;
    const d = this.rank - 1;
    const addresses = this.addresses();
    const moving = [
      { local: addresses.to, element: written },
      ...reads.flatMap((element, k) => {
        const local = at(addresses.reads, k);
        return local === addresses.to ? [] : [{ local, element }];
      }),
    ];
    const { rounds, rest } = dividedBy(code, at(this.sizes, d), unrolled?.elements ?? 1);
    const along = (count: WasmAmount, elements: number, body: () => void): void => {
      code.repeat(count, `n${d}`, () => {
        body();
        for (const { local, element } of moving)
          code.advance(local, stepAlong(element.form, "dim", d) * unitBytes(element) * elements);
        code.advance(at(this.dims, d), elements);
      });
    };
    if (unrolled !== undefined)
      along(rounds, unrolled.elements, () => {
        this.step(addresses, unrolled);
      });
    along(unrolled === undefined ? rounds : rest, 1, () => {
      this.element(addresses);
    });
    code.const(0).set(at(this.dims, d));
  }

  private address(element: PlacedElement, r?: LocalId): LocalId {
    const { code } = this.context;
    const local = code.local("element");
    this.scoped(() => {
      if (isPacked(element.dtype)) this.context.value(element.form);
      else this.context.address(element.memory, element.form, bytesOf(element.dtype));
    }, r);
    code.set(local);
    return local;
  }

  /** Returns where the elements of a point lie; those of its terms where the term at hand does. */
  private addresses(): Addresses {
    const { reads, written } = this.plan;
    const to = this.address(written);
    return {
      to,
      reads: reads.map((read) => (read === written || isReduced(read, this.rank) ? to : this.address(read))),
    };
  }

  private element({ to, reads }: Addresses): void {
    const { code } = this.context;
    const { elementBytes, values } = this.plan;
    if (values === undefined) {
      emitCopyBytes(code, to, at(reads, 0), { kind: "const", value: elementBytes });
      return;
    }
    emitValue(code, values, this.readAt(reads), this.terms(reads), to);
  }

  /** Emits the elements of an unrolled step. No two of them are one: they are neighbours. */
  private step({ to, reads }: Addresses, unrolled: UnrolledValues): void {
    const { code } = this.context;
    const { values } = this.plan;
    invariant(values !== undefined, "a step computes");
    emitVectorValues(code, values, this.readAt(reads), this.terms(reads), unrolled, to);
  }

  /** Returns the loop over the terms of an element. */
  private terms(reads: readonly LocalId[]): EachElement {
    const { code } = this.context;
    return (take) => {
      const r = code.local("r");
      code.const(0).set(r);
      code.repeat({ kind: "const", value: this.plan.map.reduced?.max ?? 0 }, "terms", () => {
        const placed = reads.map((local, k) => {
          const read = at(this.plan.reads, k);
          return isReduced(read, this.rank) ? this.address(read, r) : local;
        });
        take(this.readAt(placed));
        code.advance(r, 1);
      });
    };
  }

  private readAt(addresses: readonly LocalId[]): ReadAddresses {
    return {
      addresses,
      memory: (read) => {
        this.context.first(at(this.plan.reads, read).memory);
      },
    };
  }

  /**
   * Emits an index operand: what holds its value. A point whose value names no element is left for `none`.
   */
  private index(number: number, none: Label): IntegerLocals {
    const { context, plan } = this;
    const position = (): void => {
      this.pointNumber();
    };
    return emitIndexOperand(context, at(plan.indexSteps, number), this.raw(number), {
      nothing: () => void context.code.br(none),
      ...(plan.reports ? { position } : {}),
    });
  }

  private raw(number: number): IntegerLocals {
    const { context, plan } = this;
    const { form, rule, table } = at(plan.indexSteps, number);
    const memory = plan.tables[number];
    if (memory === undefined || table === undefined) return emitSum(context, form);
    const { dtype } = at(context.plan.source.operands, table).type;
    context.address(memory, form, indexBytes(dtype));
    return emitRead(context.code, dtype, rule);
  }

  /**
   * Pushes the number of the point at hand in the domain; along dims that are not walked yet, that of the
   * first.
   */
  private pointNumber(): void {
    const { map, stmt } = this.plan;
    const by = strides(map.domain);
    this.context.value(sumOf(stmt.origin.map((origin, d) => scale(add(dim(d), origin), at(by, d)))));
  }
}
