/**
 * The rules of an access map against the tensors of its function, in the order they are checked.
 *
 * A1 one result per data dim. A2 every output dim is followed by an input. A3 no two data dims follow the same output dim.
 * A4 a direct dim's output extent does not exceed the data extent. A5 index coordinates match the rank and extents of
 * their input, the same dims in every read. A6 at least one result is picked by an index. A7 output and data have one
 * element type; indices are integers. A9 a coordinate is one output dim or one site, each site stands in one coordinate, and
 * its values lie below that dim's extent.
 */
import { followedBy, gatheredTable, gatherDims, type AccessMap, type Site } from "../access.js";
import type { Diagnostic } from "../diagnostic.js";
import { inputOf, inputsOf, outputOf, type Func } from "../func.js";
import { isConstant, sitesOf, soleAtom, type Linear } from "../linear.js";
import { at, isIndexDType, type Span } from "../types.js";
import { broken } from "./broken.js";

export function verifyMap(map: AccessMap, func: Func, span: Span | undefined): Diagnostic[] {
  const form = [...ranks(map, func), ...forms(map, func)];
  const found = form.length > 0 ? form : [followed, picked, sites, types].flatMap((rule) => rule(map, func));
  return found.map(({ rule, message }) => broken(rule, message, span));
}

interface Fault {
  readonly rule: string;
  readonly message: string;
}

function ranks(map: AccessMap, func: Func): Fault[] {
  const [data, output] = [inputOf(func, gatheredTable).type, outputOf(func).type];
  if (map.results.length !== data.shape.length) {
    return [{ rule: "A1", message: `${map.results.length} results for data of rank ${data.shape.length}` }];
  }
  if (map.outRank !== output.shape.length) {
    const message = `the map has ${map.outRank} output dims and the output rank ${output.shape.length}`;
    return [{ rule: "A1", message }];
  }
  return [];
}

/** The output dim that a coordinate is, if it is one. */
const dimOf = (coord: Linear): number | undefined => {
  const only = soleAtom(coord);
  return only?.kind === "dim" ? only.dim : undefined;
};

function forms(map: AccessMap, func: Func): Fault[] {
  const tables = inputsOf(func).length;
  const results = map.results.flatMap((result, k): Fault[] => {
    const only = soleAtom(result);
    const known =
      only?.kind === "dim" ? only.dim < map.outRank : only?.kind === "site" && only.site < map.sites.length;
    return known ? [] : [{ rule: "A9", message: `result ${k} is neither an output dim nor an index value` }];
  });
  const used = map.results.flatMap(sitesOf);
  const reads = map.sites.flatMap(({ value }, s): Fault[] => {
    const fine = value.at.every((coord) => isConstant(coord) || (dimOf(coord) ?? Infinity) < map.outRank);
    const known = value.table > gatheredTable && value.table < tables;
    const once = used.filter((other) => other === s).length === 1;
    return fine && known && once
      ? []
      : [{ rule: "A9", message: `site ${s} is no read of an index input in one result` }];
  });
  return [...results, ...reads];
}

function followed(map: AccessMap, func: Func): Fault[] {
  const [data, output] = [inputOf(func, gatheredTable).type, outputOf(func).type];
  const used = new Set(inputsOf(func).flatMap((_, table) => [...followedBy(map, table)]));
  const found: Fault[] = output.shape.flatMap((_, d) =>
    used.has(d) ? [] : [{ rule: "A2", message: `nothing follows output dim ${d}` }],
  );
  const direct = new Set<number>();
  map.results.forEach((result, k) => {
    const d = dimOf(result);
    if (d === undefined) return;
    if (direct.has(d)) found.push({ rule: "A3", message: `two data dims follow output dim ${d}` });
    direct.add(d);
    const [extent, limit] = [at(output.shape, d), at(data.shape, k)];
    if (extent > limit)
      found.push({
        rule: "A4",
        message: `output dim ${d} has ${extent} elements, data dim ${k} only ${limit}`,
      });
  });
  return found;
}

/** A5: where the sites read. */
function picked(map: AccessMap, func: Func): Fault[] {
  const output = outputOf(func).type.shape;
  const first = new Map<number, Site>();
  return map.sites.flatMap((site): Fault[] => {
    const { table, at: coords } = site.value;
    const { shape } = inputOf(func, table).type;
    if (coords.length !== shape.length)
      return [
        { rule: "A5", message: `${coords.length} index coordinates for indices of rank ${shape.length}` },
      ];
    const pattern = (first.get(table) ?? site).value.at;
    first.set(table, first.get(table) ?? site);
    return coords.flatMap((coord, k): Fault[] => {
      const [d, extent] = [dimOf(coord), at(shape, k)];
      const found: Fault[] = [];
      if (d === undefined && (coord.at < 0 || coord.at >= extent))
        found.push({ rule: "A5", message: `component ${coord.at} of ${extent}` });
      if (d !== undefined && at(output, d) !== extent) {
        const message = `d${d} has ${at(output, d)} elements, indices dim ${k} has ${extent}`;
        found.push({ rule: "A5", message });
      }
      const other = pattern[k];
      if (other === undefined || dimOf(other) !== d)
        found.push({ rule: "A5", message: `coordinate ${k} differs between results` });
      return found;
    });
  });
}

function sites(map: AccessMap, func: Func): Fault[] {
  const { shape } = inputOf(func, gatheredTable).type;
  if (gatherDims(map).length === 0)
    return [{ rule: "A6", message: "no data dim is read through an index: a slice, not a gather" }];
  return gatherDims(map).flatMap((k): Fault[] => {
    const site = at(map.sites, at(sitesOf(at(map.results, k)), 0));
    const extent = at(shape, k);
    if (site.below === extent && (site.fromEnd ?? extent) === extent && site.keep === at(map.sites, 0).keep)
      return [];
    const message = `the index of data dim ${k} is held below ${site.below}, and the dim has ${extent} elements`;
    return [{ rule: "A9", message }];
  });
}

function types(_: AccessMap, func: Func): Fault[] {
  const [data, output] = [inputOf(func, gatheredTable).type, outputOf(func).type];
  const found: Fault[] = [];
  if (data.dtype !== output.dtype)
    found.push({ rule: "A7", message: `data is ${data.dtype} and output ${output.dtype}` });
  for (const { role, type } of inputsOf(func)) {
    if (role === "indices" && !isIndexDType(type.dtype))
      found.push({ rule: "A7", message: `indices are ${type.dtype}` });
  }
  return found;
}
