/**
 * The tile program of a scatter. Tasks are tiles along the dims of the domain that the written region follows. Each loads its region of
 * the base, or copies it in global memory, then takes its points chunk by chunk in order, and stores the region where it was in UB.
 */
import { isRead, mapForms, readsOf } from "../ir/access.js";
import { defined } from "../ir/defined.js";
import { inputsOf, outputOf, type TileFunc } from "../ir/func.js";
import { add, constant, dim, iv, min, sub, substitute, type Linear } from "../ir/linear.js";
import { baseOf, type ScatterTile, type ScatterTiling } from "../ir/tiling/scatter-tiling.js";
import type { ForStmt, Region, Stmt, UbBuffer } from "../ir/tile.js";
import { at } from "../ir/types.js";
import { UniqueNames } from "../ir/unique-names.js";
import { inputRegion, type TileBounds } from "./tile-program.js";

/** Returns the program before loads are hoisted; without addresses and syncs. */
export function scatterProgram(tiling: ScatterTiling): TileFunc {
  const { scatter, schedule, tile, tasks } = tiling;
  const { map, operands, name, target, span } = scatter;
  const output = outputOf(scatter);
  const bounds = map.domain.map((extent, d): TileBounds => {
    const step = at(tile, d);
    if (step >= extent) return { offset: constant(0), size: constant(extent) };
    const offset = iv(`t${d}`);
    return {
      offset,
      size: extent % step === 0 ? constant(step) : min(constant(step), sub(constant(extent), offset)),
    };
  });
  const outputDim = new Map([...tasks].map(([d, k]) => [k, d]));
  const along = output.type.shape.map((extent, k): TileBounds => {
    const d = outputDim.get(k);
    return d === undefined ? { offset: constant(0), size: constant(extent) } : at(bounds, d);
  });
  const region = (buffer: string): Region => ({
    buffer,
    offsets: along.map(({ offset }) => offset),
    sizes: along.map(({ size }) => size),
  });
  const names = new UniqueNames(operands.map((operand) => operand.name));
  const buffers = new Map(tiling.tiles.map((entry) => [entry.operand, bufferOf(entry, names)]));
  const reduction =
    map.reduced === undefined ? [] : [{ offset: constant(0), size: constant(map.reduced.max) }];
  const space = [...bounds, ...reduction];
  const global = inputsOf(scatter).map(({ name: buffer, type }, table): Region => ({
    buffer,
    ...inputRegion(map, table, type.shape.map(constant), space),
  }));
  const inUb = (from: Region, operand: number): Region => {
    const buffer = buffers.get(operand);
    return buffer === undefined
      ? from
      : { buffer: buffer.name, offsets: from.offsets.map(() => constant(0)), sizes: from.sizes };
  };
  const to = region(output.name);
  const regions = [...global, to];
  const dims = bounds.map(({ offset }, d) => add(dim(d), offset));
  const placed = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "dim" ? dims[of.dim] : undefined));
  // Where nothing is read of the base, no region of it stands in the statement.
  const first = typeof baseOf(scatter) === "string" || isBaseRead(tiling) ? 0 : 1;
  const points: Stmt[] = [
    ...global.flatMap((from, table): Stmt[] => {
      const buffer = buffers.get(table);
      return buffer === undefined ? [] : [{ op: "load", from, to: buffer.name }];
    }),
    {
      op: "scatter",
      from: global.slice(first).map((from, k) => inUb(from, first + k)),
      to: inUb(to, operands.length - 1),
      map: mapForms(map, placed, ({ table, at: coords }) =>
        coords.map((coord, k) => sub(placed(coord), at(at(regions, table).offsets, k))),
      ),
      sizes: bounds.map(({ size }) => size),
      origin: bounds.map(({ offset }) => offset),
    },
  ];
  const isCut = (d: number): boolean => at(tile, d) < at(map.domain, d);
  const cut = map.domain.map((_, d) => d).filter(isCut);
  const loop = (d: number, mode: ForStmt["mode"], body: readonly Stmt[]): Stmt => ({
    op: "for",
    iv: `t${d}`,
    lower: constant(0),
    upper: constant(at(map.domain, d)),
    step: at(tile, d),
    mode,
    body,
  });
  // Points are taken in ascending order, whatever the schedule's.
  const serial = cut.filter((d) => !tasks.has(d));
  const chunks = serial.reduceRight<readonly Stmt[]>((body, d) => [loop(d, "serial", body)], points);
  const written = buffers.get(operands.length - 1);
  const copy = copied(tiling, region, names);
  const inner: readonly Stmt[] =
    written === undefined
      ? [...copy.body, ...chunks]
      : [filled(tiling, region, written.name), ...chunks, { op: "store", from: written.name, to }];
  const parallel = schedule.order.filter((d) => cut.includes(d) && tasks.has(d));
  const body = parallel.reduceRight<readonly Stmt[]>((inside, d) => [loop(d, "parallel", inside)], inner);
  return {
    level: "tile",
    name,
    operands,
    schedule,
    body: [
      ...[...buffers.values(), ...copy.buffers].map((buffer) => ({ op: "alloc", buffer }) as const),
      ...body,
    ],
    ...defined({ target, span }),
  };
}

const isBaseRead = ({ scatter: { map } }: ScatterTiling): boolean =>
  readsOf(map, 0).length > 0 || map.indices.some(({ value }) => isRead(value) && value.table === 0);

const bufferOf = ({ name, dtype, shape, rowBytes }: ScatterTile, names: UniqueNames): UbBuffer => ({
  name: names.next(`${name}_ub`),
  dtype,
  shape,
  rowBytes,
  buffers: 1,
});

/** Returns what fills the written tile with its region of the base. */
function filled({ scatter }: ScatterTiling, region: (buffer: string) => Region, to: string): Stmt {
  const base = baseOf(scatter);
  return typeof base === "string"
    ? { op: "fill", to, bits: base }
    : { op: "load", from: region(base.name), to };
}

/** Returns the statements that copy the base to the output through UB, and their tile; none of what is written in place. */
function copied(
  { scatter, copy, written }: ScatterTiling,
  region: (buffer: string) => Region,
  names: UniqueNames,
): { readonly buffers: readonly UbBuffer[]; readonly body: readonly Stmt[] } {
  if (copy === undefined) return { buffers: [], body: [] };
  const base = baseOf(scatter);
  const buffer = bufferOf({ ...copy, name: "base" }, names);
  const variables = new Map(copy.loops.map((k) => [k, names.next(`c${k}`)]));
  const last = copy.loops.at(-1);
  const piece = (of: string): Region => {
    const full = region(of);
    return {
      buffer: of,
      offsets: full.offsets.map((offset, k) => {
        const variable = variables.get(k);
        return variable === undefined ? offset : iv(variable);
      }),
      sizes: full.sizes.map((size, k) => {
        const variable = variables.get(k);
        if (variable === undefined) return size;
        if (k !== last) return constant(1);
        const extent = at(written, k);
        return extent % copy.step === 0
          ? constant(copy.step)
          : min(constant(copy.step), sub(constant(extent), iv(variable)));
      }),
    };
  };
  const store: Stmt = { op: "store", from: buffer.name, to: piece(outputOf(scatter).name) };
  const inside: readonly Stmt[] =
    typeof base === "string" ? [store] : [{ op: "load", from: piece(base.name), to: buffer.name }, store];
  const walk = copy.loops.reduceRight<readonly Stmt[]>(
    (body, k) => [
      {
        op: "for",
        iv: variables.get(k) ?? "",
        lower: constant(0),
        upper: constant(at(written, k)),
        step: k === last ? copy.step : 1,
        mode: "serial",
        body,
      },
    ],
    inside,
  );
  const fill: readonly Stmt[] = typeof base === "string" ? [{ op: "fill", to: buffer.name, bits: base }] : [];
  return { buffers: [buffer], body: [...fill, ...walk] };
}
