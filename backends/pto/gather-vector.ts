/** TGATHER: every index of a tile, or of a row, becomes a flat address of the data tile. */
import { gatheredTable } from "../../ir/access.js";
import { siteStrides } from "../../ir/addressing.js";
import { loopPart, stepAlong, type Linear } from "../../ir/linear.js";
import type { Region, UbBuffer } from "../../ir/tile.js";
import { at, elementCount, invariant } from "../../ir/types.js";
import { fixed, type Context, type TileShape } from "./context.js";
import { dataBuffer, outputBuffer, type Added, type PtoGather } from "./plan.js";
import { clamped, copied, counted, marked, marksOf, shifted, strided, zeroed } from "./steps.js";
import { i32 } from "./words.js";

/** The parts of an address beside the site's: a constant for each row, a step along it. */
function partsOf({ stmt, addresses }: PtoGather) {
  const rank = stmt.to.sizes.length;
  const inner = rank - 1;
  const [site = 1] = siteStrides(addresses.data, 1);
  const outer: Linear = {
    at: addresses.data.at,
    terms: addresses.data.terms.filter(
      ({ of }) => of.kind !== "site" && !(of.kind === "dim" && of.dim === inner),
    ),
  };
  return { inner, site, outer, along: stepAlong(addresses.data, "dim", inner) };
}

const operands = (context: Context, gather: PtoGather) => {
  const { plan } = context;
  const data = dataBuffer(plan, gather);
  const index = plan.buffers.get(indexRegion(gather).buffer);
  invariant(data !== undefined && index !== undefined, "TGATHER reads tiles in UB");
  return { data, index, output: outputBuffer(plan, gather), rule: at(gather.rules, 0) };
};

const indexSizes = (gather: PtoGather) => indexRegion(gather).sizes;

/** Where the one index value of a vector gather is read. */
const indexRegion = ({ stmt, sites }: PtoGather): Region =>
  at(stmt.from, at(sites, 0).table ?? gatheredTable);

/** A matrix of as many values as an output tile has elements. */
function addressShape(context: Context, gather: PtoGather): TileShape {
  const { index } = operands(context, gather);
  return context.bufferShape(index, indexSizes(gather));
}

/** What `whole-tile` sets up once: where each element's row of data begins. */
export function emitBase(context: Context, gather: PtoGather): void {
  const { out, plan } = context;
  if (!plan.added.has("base")) return;
  const { index } = operands(context, gather);
  const { outer, along } = partsOf(gather);
  const shape = addressShape(context, gather);
  const columns = at(index.shape, index.shape.length - 1);
  const valid = [fixed(shape.rows), fixed(columns)] as const;
  const type = context.tileType("Index", shape);
  const given = shape.valid.every((extent) => extent.fixed)
    ? ""
    : shape.rows === 1
      ? `(${columns})`
      : `(${valid[0].text}, ${columns})`;
  out.line(`${type} base${given};`);
  out.line("TASSIGN(base, base_ub);");
  const extents = gather.stmt.to.sizes.slice(0, -1).map((_, d) => outputBuffer(plan, gather).shape[d] ?? 1);
  const dims = extents.map((extent, d) => {
    const rows = elementCount(extents.slice(d + 1));
    if (extent === 1) return "0";
    const row = rows === 1 ? "r" : `r / ${rows}`;
    const wraps = extents.slice(0, d).some((other) => other > 1);
    return wraps || rows > 1 ? `(${wraps ? `${row} % ${extent}` : row})` : row;
  });
  const start = context.form({ ...outer, terms: outer.terms.filter(({ of }) => of.kind === "dim") }, dims);
  const step = along === 0 ? "0" : along === 1 ? "c" : `c * ${along}`;
  const value = start === "0" ? step : step === "0" ? start : `${start} + ${step}`;
  out.block(`for (int32_t r = 0; r < ${shape.rows}; r++)`, () => {
    out.line(`for (int32_t c = 0; c < ${columns}; c++) base.SetValue(r * ${shape.columns} + c, ${value});`);
  });
  context.flags("S", "V", "EVENT_ID1");
}

export function emitWholeTile(context: Context, gather: PtoGather): void {
  const { stmt, addresses } = gather;
  const { data, index, output, rule } = operands(context, gather);
  const { site } = partsOf(gather);
  const from = at(stmt.from, 0);
  const tile = context.bufferTile(data, from.sizes);
  const indices = context.bufferTile(index, indexSizes(gather));
  context.takeTurn(output);
  const result = context.bufferTile(output, stmt.to.sizes);
  const base = context.plan.added.has("base") ? context.fresh("base") : undefined;
  if (base !== undefined) context.tile(base, "Index", addressShape(context, gather), "base_ub");
  const loops = context.form(loopPart({ ...addresses.data, at: 0 }));
  context.vector(
    ...(rule.fromEnd === undefined ? [] : counted(rule.fromEnd, indices, result, indices)),
    ...(marksOf(rule) === "clamped" ? clamped(rule, indices, indices) : []),
    ...strided(indices, site),
    ...(base === undefined ? [] : [`TADD(${indices}, ${indices}, ${base})`]),
    ...(loops === "0" ? [] : shifted(indices, loops)),
    `TGATHER(${result}, ${tile}, ${indices}, ${indices})`,
  );
}

/** Rows of 32-bit values by what they hold: the program's scratch first, then what the lowering adds. */
class Rows {
  private next = 0;
  constructor(
    private readonly context: Context,
    private readonly scratch: UbBuffer | undefined,
    readonly bytes: number,
  ) {}

  take(): string {
    const k = this.next++;
    const planned = this.scratch?.shape[0] ?? 0;
    if (this.scratch !== undefined && k < planned) {
      return `${this.context.address(this.scratch)}${k === 0 ? "" : ` + ${k * this.scratch.rowBytes}`}`;
    }
    const extra = k - planned;
    return `rows_ub${extra === 0 ? "" : ` + ${extra * this.bytes}`}`;
  }
}

interface RowPlan {
  readonly first: string;
  /** Where a bad index is marked: of the values themselves, and what was seen or what is subtracted. */
  readonly second?: string;
  readonly third?: string;
  readonly iota?: string;
}

function rowPlan(context: Context, gather: PtoGather): RowPlan {
  const { plan } = context;
  const { index, rule } = operands(context, gather);
  const { along } = partsOf(gather);
  const scratch = gather.stmt.scratch === undefined ? undefined : plan.buffers.get(gather.stmt.scratch);
  const rows = new Rows(context, scratch, index.rowBytes);
  const first = rows.take();
  const iota = along === 0 ? undefined : rows.take();
  const marks = marksOf(rule) === "marked" ? { second: rows.take(), third: rows.take() } : {};
  return { first, ...marks, ...(iota === undefined ? {} : { iota }) };
}

const rowShape = ({ rowBytes }: UbBuffer, columns: TileShape["valid"][1]): TileShape => ({
  word: i32,
  rows: 1,
  columns: rowBytes / i32.bytes,
  valid: [fixed(1), columns],
});

/** What `per-row` sets up once: the columns' addresses, what was seen of bad indices, zeros. */
export function emitRows(context: Context, gather: PtoGather): void {
  const { out, plan } = context;
  const { index } = operands(context, gather);
  const { along } = partsOf(gather);
  const columns = index.shape[index.shape.length - 1] ?? 1;
  const { iota, third } = rowPlan(context, gather);
  const full = rowShape(index, fixed(index.rowBytes / i32.bytes));
  if (gather.reports && third !== undefined) {
    context.tile("seen", "Row", full, third);
    out.line("TEXPANDS(seen, (int32_t)0);");
  }
  if (plan.added.has("zeros")) {
    const bytes = addedBytes(context, "zeros");
    context.tile(
      "zeros",
      "Zeros",
      rowShape({ ...index, rowBytes: bytes }, fixed(bytes / i32.bytes)),
      "zeros_ub",
    );
    out.line("TEXPANDS(zeros, (int32_t)0);");
  }
  if (iota !== undefined) {
    context.tile("iota", "Row", full, iota);
    out.line(
      `for (int32_t c = 0; c < ${columns}; c++) iota.SetValue(c, c${along === 1 ? "" : ` * ${along}`});`,
    );
    context.flags("S", "V", "EVENT_ID1");
  }
}

const addedBytes = ({ plan }: Context, what: Added): number => plan.added.get(what)?.bytes ?? 0;

export function emitPerRow(context: Context, gather: PtoGather): void {
  const { plan } = context;
  const { stmt, addresses } = gather;
  const { data, index, output, rule } = operands(context, gather);
  const { inner, site, outer } = partsOf(gather);
  const from = at(stmt.from, 0);
  const table = context.bufferTile(data, from.sizes);
  context.takeTurn(output);
  const rows = rowPlan(context, gather);
  const columns = context.extent(at(stmt.to.sizes, inner), at(output.shape, inner));
  const dims = stmt.to.sizes.map((size, d) =>
    d === inner || context.extent(size, at(output.shape, d)).text === "1" ? "0" : `d${d}`,
  );
  const nest = (d: number): void => {
    if (d < inner) {
      const { text } = context.extent(at(stmt.to.sizes, d), at(output.shape, d));
      if (text === "1") nest(d + 1);
      else
        context.scope(`for (int32_t d${d} = 0; d${d} < ${text}; d${d}++)`, () => {
          nest(d + 1);
        });
      return;
    }
    const tile = (name: string, type: string, shape: TileShape, address: string): string => {
      const own = context.fresh(name);
      context.tile(own, type, shape, address);
      return own;
    };
    const word = plan.words(output.name);
    const values = tile(
      "row",
      "Row",
      rowShape(index, columns),
      context.within(index, at(addresses.sites, 0), dims),
    );
    const result = tile(
      "row",
      "OutputRow",
      { word, rows: 1, columns: output.rowBytes / word.bytes, valid: [fixed(1), columns] },
      context.within(output, addresses.output, dims),
    );
    const address = tile("row", "Row", rowShape(index, columns), rows.first);
    const iota =
      rows.iota === undefined ? undefined : tile("row", "Row", rowShape(index, columns), rows.iota);
    const second =
      rows.second === undefined ? undefined : tile("row", "Row", rowShape(index, columns), rows.second);
    const third =
      rows.third === undefined ? undefined : tile("row", "Row", rowShape(index, columns), rows.third);
    const flat = second ?? address;
    context.barrier();
    context.vector(
      ...copied(rule, address, values),
      ...(marksOf(rule) === "clamped" ? clamped(rule, address, address) : []),
      ...(second === undefined ? [] : marked(rule, second, address)),
      ...(gather.reports && third !== undefined ? [`TMAX(${third}, ${third}, ${address})`] : []),
      ...strided(flat, site),
      ...(data.shape.length > 1 ? shifted(flat, context.form(outer, dims)) : []),
      ...(iota === undefined ? [] : [`TADD(${flat}, ${flat}, ${iota})`]),
      ...(third !== undefined && plan.added.has("zeros")
        ? zeroed(flat, address, third, zeroAddress(context, data))
        : []),
      `TGATHER(${result}, ${table}, ${flat}, ${flat})`,
    );
  };
  nest(0);
}

/** The flat number of the block of zeros, counted from the data tile. */
const zeroAddress = (context: Context, data: UbBuffer): string =>
  `((zeros_ub - ${context.address(data)}) / ${context.plan.words(data.name).bytes})`;

/** At the end of a kernel that marks bad indices. */
export function emitSeen(context: Context, gather: PtoGather): void {
  const { index } = operands(context, gather);
  context.wait("V", "S");
  context.out.line(
    `for (int32_t c = 0; c < ${index.rowBytes / i32.bytes}; c++) bad = bad || seen.GetValue(c) != 0;`,
  );
}
