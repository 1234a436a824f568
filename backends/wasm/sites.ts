/**
 * gather by the sites of a map: each is taken as soon as the dims that it follows are known, and the first that gives none or an
 * error ends all that lies inside them.
 */
import { atomsOf, constant, mod, sub, type Linear } from "../../ir/linear.js";
import type { Page } from "../../ir/page.js";
import { indexBytes } from "../../ir/policy.js";
import { at, InternalError, invariant, isSigned } from "../../ir/types.js";
import { nest, runBytes, type Pointer } from "./box.js";
import { copyBytes, zeroBytes, type Amount, type Code, type Held, type Label, type LocalId } from "./code.js";
import type { Context, Point } from "./context.js";
import { emitResolved, loadIndex, localValue, type IndexValue } from "./resolve.js";
import { commonRun, range } from "./runs.js";
import type { SiteMove, SitesPlan, Stage } from "./sites-plan.js";
import { wideConstant, wideValue } from "./wide.js";

export function emitSites(context: Context, plan: SitesPlan): void {
  new SitesEmitter(context, plan).emit();
}

/** The output dims that lie inside a stage: all from `first` on, with all their elements from `whole` on. */
interface Inside {
  readonly first: number;
  readonly whole: number;
  readonly sizes: readonly Amount[];
}

class SitesEmitter {
  private readonly code: Code;
  private readonly sizes: readonly Amount[];

  constructor(
    private readonly context: Context,
    private readonly plan: SitesPlan,
  ) {
    this.code = context.code;
    this.sizes = plan.stmt.to.sizes.map((size) => context.amount(size));
  }

  emit(): void {
    const { code, context, plan } = this;
    const { output, elementBytes } = plan;
    const out = code.local("out");
    context.address(output.memory, output.start, elementBytes);
    code.set(out);
    const coordinates = this.dimsUsed().map((d) => {
      const local = code.local(`d${d}`);
      code.const(0).set(local);
      return { d, pointer: { local, by: Array.from({ length: d + 1 }, (_, k) => (k === d ? 1 : 0)) } };
    });
    this.stage(
      0,
      coordinates.map(({ d }) => d),
      [{ local: out, by: output.by }, ...coordinates.map(({ pointer }) => pointer)],
      new Map(),
    );
  }

  /** The output dims that forms of the map are over. */
  private dimsUsed(): number[] {
    const { data, stages } = this.plan;
    const forms: Linear[] = [data.row, ...stages.flatMap(({ sites }) => sites.map(({ form }) => form))];
    const found = forms.flatMap((form) => atomsOf(form).flatMap((of) => (of.kind === "dim" ? [of.dim] : [])));
    return [...new Set(found)].sort((a, b) => a - b);
  }

  /** The sites of a stage and all that lies inside. `pointers`: to the output, then the coordinates of `dims`. */
  private stage(
    k: number,
    dims: readonly number[],
    pointers: readonly Pointer[],
    sites: Map<number, Held>,
  ): void {
    const { code, context, plan, sizes } = this;
    const stage = at(plan.stages, k);
    const outer = k === 0 ? 0 : at(plan.stages, k - 1).dim + 1;
    const isLast = k === plan.stages.length - 1;
    const taken = (own: readonly Pointer[], inside: Inside): void => {
      const [to, ...coordinates] = own;
      invariant(to !== undefined, "a gather has a pointer to its output");
      this.ending(stage, inside, to, (none) => {
        context.at(this.pointAt(dims, coordinates, sites), () => {
          for (const site of stage.sites) sites.set(site.site, this.site(site, to.local, none));
          if (isLast) this.row(inside, to);
        });
        if (!isLast) this.stage(k + 1, dims, own, sites);
      });
    };
    const page = isLast ? plan.page : undefined;
    const first = page === undefined ? stage.dim + 1 : stage.dim;
    nest(code, sizes, range(outer, first), pointers, (locals) => {
      const own = pointers.map((pointer, n) => ({ ...pointer, local: at(locals, n) }));
      if (page === undefined) taken(own, { first, whole: first, sizes });
      else this.byPages(page, dims, own, sites, taken);
    });
  }

  private pointAt(dims: readonly number[], coordinates: readonly Pointer[], sites: Map<number, Held>): Point {
    return {
      ranges: this.plan.ranges,
      dims: new Map(dims.map((d, n) => [d, at(coordinates, n).local])),
      sites,
    };
  }

  /** The loop of the dim `last` by pages: `body` takes what is left of one. */
  private byPages(
    { form, by }: Page,
    dims: readonly number[],
    pointers: readonly Pointer[],
    sites: Map<number, Held>,
    body: (pointers: readonly Pointer[], inside: Inside) => void,
  ): void {
    const { code, context } = this;
    const { last } = this.plan;
    const [left, count] = [code.local("left"), code.local("count")];
    const own = pointers.map((pointer) => {
      if ((pointer.by[last] ?? 0) === 0) return pointer;
      const local = code.local(`${at(code.locals, pointer.local).name}${last}`);
      code.get(pointer.local).set(local);
      return { ...pointer, local };
    });
    code.push(at(this.sizes, last)).set(left);
    code.get(left).if(() => {
      code.loop((again) => {
        context.at(this.pointAt(dims, own.slice(1), sites), () => {
          context.value(sub(constant(by), mod(form, by)));
        });
        code.set(count).get(count).get(left).get(count).get(left).op("i32.lt_u").op("select").set(count);
        const sizes = this.sizes.map((size, d): Amount =>
          d === last ? { kind: "local", local: count } : size,
        );
        body(own, { first: last, whole: last + 1, sizes });
        for (const { local, by: steps } of own) {
          const step = steps[last] ?? 0;
          if (step !== 0) code.get(local).get(count).times(step).op("i32.add").set(local);
        }
        code.get(left).get(count).op("i32.sub").op("local.tee", left).brIf(again);
      });
    });
  }

  /** Runs `body`, which leaves for `none` where what lies inside a stage has no element; that has the fill instead. */
  private ending(
    { sites }: Stage,
    inside: Inside,
    to: Pointer,
    body: (none: Label | undefined) => void,
  ): void {
    const { code } = this;
    if (!sites.some(({ ends }) => ends)) {
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

  /** Takes a site: what holds its value. */
  private site(site: SiteMove, to: LocalId, none: Label | undefined): Held {
    const { code, context, plan } = this;
    const { rule, fromEnd } = site;
    const raw = this.raw(site);
    if (rule === undefined)
      return fromEnd === undefined ? raw : this.counted(raw, context.number(fromEnd, site.open?.fromEnd));
    const nothing = (): void => {
      invariant(none !== undefined, "a site that can end an element has somewhere to go");
      code.br(none);
    };
    const position = (): void => {
      context.outputNumber(to, plan.elementBytes);
    };
    const resolver = {
      rule,
      bounds: context.bounds(rule),
      bad: context.bad,
      nothing,
      ...(plan.reports ? { position } : {}),
    };
    emitResolved(code, resolver, this.value(raw, rule.signed));
    const element = code.local(`at${site.site}`);
    code.set(element);
    return element;
  }

  private value(held: Held, signed: boolean): IndexValue {
    return typeof held === "number" ? localValue(this.code, held, signed) : wideValue(this.code, held);
  }

  /** A site's value as it stands. Of a read under a policy, in the width of its table; else exact, with its sign. */
  private raw({ form, from, rule }: SiteMove): Held {
    const { code, context } = this;
    if (from === undefined) {
      const width = context.widthOf(form);
      if (width === "wide") return context.wide(form);
      const sum = code.local("sum", width);
      context.value(form, width);
      code.set(sum);
      return sum;
    }
    const own = { bytes: indexBytes(from.dtype), signed: isSigned(from.dtype) };
    context.address(from.memory, form, own.bytes);
    const value = loadIndex(code, own);
    if (rule !== undefined || own.signed || own.bytes < 4) return value;
    if (own.bytes === 8) return { low: value, high: wideConstant(code, 0).high };
    const exact = code.local("exact", "i64");
    code.get(value).op("i64.extend_i32_u").set(exact);
    return exact;
  }

  /** A value that counts from the end where it is negative, and is not bounded. */
  private counted(raw: Held, fromEnd: Amount): Held {
    return this.value(raw, true).counted(fromEnd).held;
  }

  /** What lies together behind the sites. */
  private row({ first, sizes }: Inside, to: Pointer): void {
    const { code, context, plan } = this;
    const { data, elementBytes, run } = plan;
    const row = code.local("row");
    context.address(data.memory, data.row, elementBytes);
    code.set(row);
    const bytes = runBytes(code, run, sizes);
    nest(code, sizes, range(first, run.outer), [to, { local: row, by: data.by }], (locals) => {
      copyBytes(code, at(locals, 0), at(locals, 1), bytes);
    });
  }

  /** The fill of all elements inside. */
  private fill({ first, whole, sizes }: Inside, to: Pointer): void {
    const { code } = this;
    const { elementBytes, fill, stmt } = this.plan;
    if (fill.every((byte) => byte === 0)) {
      const run = commonRun(stmt.to.sizes, [to.by], elementBytes, whole);
      const bytes = runBytes(code, run, sizes);
      nest(code, sizes, range(first, run.outer), [to], ([target]) => {
        zeroBytes(code, target ?? to.local, bytes);
      });
      return;
    }
    nest(code, sizes, range(first, sizes.length), [to], ([target]) => {
      this.fillElement(target ?? to.local);
    });
  }

  private fillElement(to: LocalId): void {
    const { code } = this;
    const { fill } = this.plan;
    const bits = (from: number, bytes: number): bigint =>
      fill.slice(from, from + bytes).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
    const signed = (from: number, bytes: number): bigint => BigInt.asIntN(8 * bytes, bits(from, bytes));
    code.get(to);
    switch (fill.length) {
      case 1:
        code.op("i32.const", bits(0, 1)).op("i32.store8", 0);
        return;
      case 2:
        code.op("i32.const", bits(0, 2)).op("i32.store16", 0);
        return;
      case 4:
        code.op("i32.const", signed(0, 4)).op("i32.store", 0);
        return;
      case 8:
        code.op("i64.const", signed(0, 8)).op("i64.store", 0);
        return;
      case 16:
        code.op("i64.const", signed(0, 8)).op("i64.store", 0);
        code.get(to).op("i64.const", signed(8, 8)).op("i64.store", 8);
        return;
      default:
        throw new InternalError(`elements of ${fill.length} B`);
    }
  }
}
