/**
 * The rules of an access map against the tensors of its function, in the order they are checked. B6 and B8,
 * of terms, are in term-rules.ts.
 *
 * A1 one coordinate per dim of what is read and written; of a gather, some element of the data is read, and
 * there is a point for each element of the output, which it writes. The rules of what a scatter writes are in
 * write-rules.ts. A9 index operands are in order: what one names stands before it; no loop variable and no
 * minimum stands in a coordinate; a bound is a whole number below 2^31, and stands with every policy but
 * `any`; the element that is left out is inside of it. A10 fill bits are those of one element, and some index
 * operand fills. A7 output and value have one element type (value-rules.ts has the rules of values); what an
 * index operand reads are integers. V4 some index value keeps the coordinates of a bare read inside. V2 div
 * and mod are of what is never negative. V1 every coordinate is provably inside its extent. V3 an index value
 * under `wrap` that stands in a sum has a stated modulus: `wrap(%i[d0] in 3) + d1`.
 */
import { defined } from "../defined.js";
import { derivedOnce } from "../derived-once.js";
import {
  isIdentity,
  isScatter,
  coordsOf,
  formsOf,
  indexPoints,
  gatheredTable,
  isRead,
  reductionDim,
  type AccessMap,
  type Forms,
} from "../access.js";
import { coordinatesOf } from "../intervals/index-bounds.js";
import type { Diagnostic } from "../diagnostic.js";
import { dynamicSymbols, inputsOf, outputOf, type Func } from "../func.js";
import { isEmptyReduction, rangesOf, staysWithin } from "../intervals/intervals.js";
import { rangeOf, type Interval, type Ranges } from "../intervals/range.js";
import { atomsOf, indicesOf, type Linear } from "../linear.js";
import {
  at,
  bytesOf,
  elementCount,
  formatShape,
  isIndexDType,
  isPacked,
  maxElements,
  sameShape,
  type Span,
  type TensorType,
} from "../types.js";
import { broken, type BrokenCode } from "./broken.js";
import { reductionFaults, reductionIndexFaults } from "./reduction-rules.js";
import { valueFaults } from "./value-rules.js";
import { policyFaults, uniqueFaults, writeFaults } from "./write-rules.js";

/**
 * Space of an access map's coordinates: whole tensors, or regions of tensors in a tile program. For regions,
 * {@link verifyMap} does not check the ranges of coordinates.
 */
export type MapPlace = "tensors" | "regions";

/**
 * Operand lists with which a map was verified without a fault. Passes keep the objects of a map and its
 * operands, and each pass verifies its program.
 */
const verifiedWith = derivedOnce((_: AccessMap) => new WeakSet<Func["operands"]>());

/**
 * Returns the diagnostics of the rules that an access map breaks; an empty list for a valid map. `place`:
 * space of the coordinates, whole tensors or regions of a tile program.
 */
export function verifyMap(
  map: AccessMap,
  func: Func,
  span: Span | undefined,
  place: MapPlace = "tensors",
): Diagnostic[] {
  if (verifiedWith(map).has(func.operands)) return [];
  const isSized = place === "tensors" && dynamicSymbols(func).length === 0;
  const shaped = {
    map,
    func,
    inputs: inputsOf(func).map(({ type }) => type),
    output: outputOf(func).type,
    isSized,
  };
  const form = [ranks, writes, reductions, order, ...(place === "tensors" ? [loopless] : [])].flatMap(
    (rule) => rule(shaped),
  );
  const typed =
    form.length > 0 ? form : [reductionIndices, policies, fill, types].flatMap((rule) => rule(shaped));
  const faults = typed.length > 0 || place === "regions" ? typed : values(shaped);
  if (faults.length === 0 && place === "tensors") verifiedWith(map).add(func.operands);
  return faults.map(({ rule, message, code = "TC204", hint }) =>
    broken(rule, message, span, { code, ...defined({ hint }) }),
  );
}

interface Fault {
  readonly rule: string;
  readonly message: string;
  readonly code?: BrokenCode;
  readonly hint?: string;
}

interface Shaped {
  readonly map: AccessMap;
  readonly func: Func;
  readonly inputs: readonly TensorType[];
  readonly output: TensorType;
  /** True if the extents of the map are those of the program: no maximum sizes, and no tile. */
  readonly isSized: boolean;
}

/** Returns the name that the text has for an operand: `%indices`. */
const shownInput = ({ func }: Shaped, table: number): string => {
  const input = [...inputsOf(func), outputOf(func)][table];
  return input === undefined ? `input ${table}` : `%${input.name}`;
};

/**
 * Returns the violations of rule A1 by an access map: coordinates that do not match the rank of the tensor. A
 * gather must also read data and write every output element at the element's own coordinates.
 */
function ranks(shaped: Shaped): Fault[] {
  const { map, inputs, output } = shaped;
  const fault = (message: string): Fault[] => [{ rule: "A1", message }];
  const strange = map.reads.find(({ table, at: coords }) => coords.length !== inputs[table]?.shape.length);
  if (strange !== undefined) {
    const { table, at: coords } = strange;
    const rank = inputs[table]?.shape.length ?? 0;
    return table === gatheredTable
      ? fault(`${coords.length} results for data of rank ${rank}`)
      : fault(`${coords.length} coordinates for ${shownInput(shaped, table)} of rank ${rank}`);
  }
  const indexReads = map.indices.flatMap(({ value }) => (isRead(value) ? [value] : []));
  for (const { table, at: coords } of indexReads) {
    const read = inputs[table];
    if (read === undefined)
      return fault(`the map reads input ${table}, and there are ${inputs.length} inputs`);
    if (coords.length === read.shape.length) continue;
    const shown = shownInput(shaped, table);
    return fault(`${coords.length} index coordinates for ${shown} of rank ${read.shape.length}`);
  }
  if (isScatter(map)) return [];
  if (!map.reads.some(({ table }) => table === gatheredTable))
    return fault(`no element of ${shownInput(shaped, gatheredTable)} is read`);
  if (map.domain.length !== output.shape.length)
    return fault(`the map has ${map.domain.length} output dims and the output rank ${output.shape.length}`);
  if (!sameShape(map.domain, output.shape))
    return fault(
      `the map is over points ${formatShape(map.domain)} and the output is ${formatShape(output.shape)}`,
    );
  if (map.write.table !== inputs.length || !isIdentity(map.write, map.domain.length))
    return fault("each point writes the element of the output at its own coordinates");
  return [];
}

const writes = ({ map, func }: Shaped): Fault[] => (isScatter(map) ? writeFaults(map, func) : []);

const policies = ({ map, output, isSized }: Shaped): Fault[] => [
  ...policyFaults(map),
  ...(isSized ? uniqueFaults(map, output) : []),
];

const reductions = ({ map }: Shaped): Fault[] =>
  reductionFaults(map).map((fault) => ({ ...fault, code: "TC205" }));

const reductionIndices = ({ map }: Shaped): Fault[] =>
  reductionIndexFaults(map).map((fault) => ({ ...fault, code: fault.rule === "A9" ? "TC204" : "TC205" }));

const statedModulus =
  "state the modulus: wrap(… in n); or keep the whole window inside the tensor: clamp(… in n)";

const isBound = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= maxElements;

/**
 * Returns the violations of rules A9, V3 and V4 by an access map. A9: a coordinate uses only dims and index
 * values that exist. V3: a sum with policy `wrap` states a modulus. V4: if an index operand has a policy, the
 * coordinates that use it are inside the tensor for index value 0.
 */
function order({ map }: Shaped): Fault[] {
  const fault = (message: string): Fault => ({ rule: "A9", message });
  const isDefined = (form: Linear, indices: number): boolean =>
    atomsOf(form).every((of) => {
      if (of.kind === "dim") return of.dim >= 0 && of.dim <= reductionDim(map);
      return of.kind !== "index" || (of.index >= 0 && of.index < indices);
    });
  const results = (isScatter(map) ? [map.write, ...map.reads] : map.reads)
    .flatMap((access) => access.at)
    .flatMap((result, k) =>
      isDefined(result, map.indices.length)
        ? []
        : [fault(`result ${k} names a dim or an index value that does not exist`)],
    );
  const indices = map.indices.flatMap((index, s) => {
    const { outOfRange, extent, wrapNegativeBy, value, excluded } = index;
    if (!coordsOf(index).every((form) => isDefined(form, s)))
      return [
        fault(
          `index value ${s} names a dim that does not exist, or an index value that does not come before it`,
        ),
      ];
    if (outOfRange === "any" && extent !== undefined)
      return [fault(`index value ${s} has a bound and no policy`)];
    if (outOfRange === "wrap" && extent === undefined)
      return [
        {
          rule: "V3",
          message: `index value ${s} is part of a sum, and its policy wrap states no modulus`,
          hint: statedModulus,
        },
      ];
    if (outOfRange !== "any" && extent === undefined)
      return [
        { rule: "V4", message: `index 0 already takes the coordinates of index value ${s} out of range` },
      ];
    if (outOfRange === "any" && wrapNegativeBy === undefined && !isRead(value))
      return [fault(`index value ${s} is a sum that no policy bounds`)];
    const wrong = [extent, wrapNegativeBy].find((n) => n !== undefined && !isBound(n));
    if (wrong !== undefined)
      return [fault(`index value ${s} has the upper bound ${wrong}, which is not an extent`)];
    const inside =
      excluded === undefined || (Number.isInteger(excluded) && excluded >= 0 && excluded < (extent ?? 0));
    return inside ? [] : [fault(`index value ${s} excludes ${excluded}, which is outside its bound`)];
  });
  return [...results, ...indices];
}

/**
 * Returns the violation of rule A9 by an access map over whole tensors that uses a loop variable or a minimum
 * in a coordinate. The list is empty if the map uses none.
 */
function loopless({ map }: Shaped): Fault[] {
  const forms = formsOf(map);
  const stray = forms.flatMap(atomsOf).find(({ kind }) => kind === "iv" || kind === "min");
  if (stray === undefined) return [];
  const what = stray.kind === "iv" ? `the loop variable %${stray.name}` : "a minimum";
  return [{ rule: "A9", message: `a map over whole tensors has ${what} in a coordinate` }];
}

/**
 * Returns the violations of rule A10 by an access map. Fill bits must fit the output's element type, and some
 * index operand must have the policy `zero`.
 */
function fill({ map, output }: Shaped): Fault[] {
  if (map.fill === undefined) return [];
  // Of a packed output, which its own rule refuses.
  if (isPacked(output.dtype)) return [];
  const bytes = bytesOf(output.dtype);
  const fault = (message: string): Fault[] => [{ rule: "A10", message }];
  if (output.dtype === "string") return fault("a string has no fill bits");
  if (BigInt(map.fill) >> BigInt(8 * bytes) !== 0n)
    return fault(`fill bits ${map.fill} are more than the ${8 * bytes} of ${output.dtype}`);
  const fills = map.indices.some(({ outOfRange }) => outOfRange === "zero");
  return fills ? [] : fault(`fill bits ${map.fill} are stated, and no index value has the policy zero`);
}

/**
 * Returns the violations of the type rules by an access map. Value and output are checked by {@link
 * valueFaults}; index tensors must have an integer type (rule A7).
 */
function types(shaped: Shaped): Fault[] {
  const { map, inputs, output } = shaped;
  const reads = map.reads.map(({ table }) => at(inputs, table).dtype);
  const faults: Fault[] = valueFaults(map, reads, output.dtype).map((fault) => ({ code: "TC104", ...fault }));
  const asIndices = new Set(map.indices.flatMap(({ value }) => (isRead(value) ? [value.table] : [])));
  const asValues = new Set(map.reads.map(({ table }) => table));
  inputs.forEach(({ dtype }, table) => {
    // Its base and its updates need not be read.
    if (isScatter(map) && !asIndices.has(table)) return;
    if ((asValues.has(table) && !asIndices.has(table)) || isIndexDType(dtype)) return;
    faults.push({ rule: "A7", message: `indices ${shownInput(shaped, table)} are ${dtype}`, code: "TC104" });
  });
  return faults;
}

/**
 * Returns the violations of rules V1 and V2 by an access map; an empty list if no index value is read. V1:
 * coordinates are inside the tensor. V2: the operand of `div` or `mod` is never negative.
 */
function values(shaped: Shaped): Fault[] {
  const { map, inputs } = shaped;
  const points = indexPoints(map);
  if (elementCount(points) === 0) return [];
  // Without points, index values alone are read.
  const read: Forms = elementCount(map.domain) === 0 ? { indices: map.indices, reads: [] } : map;
  const ranges = rangesOf(map, inputs, points);
  return [...formsOf(read).flatMap((form) => negative(form, ranges)), ...outside(shaped, read, ranges)];
}

const shownRange = ([least, max]: Interval): string => `${least} to ${max}`;

/**
 * Returns the violations of rule V2 in a linear expression: `div` or `mod` of a value that may be negative.
 * `ranges`: ranges of dims and index values.
 */
function negative(form: Linear, ranges: Ranges): Fault[] {
  return atomsOf(form).flatMap((of) => {
    if (of.kind !== "div" && of.kind !== "mod") return [];
    const image = rangeOf(of.of, ranges);
    if (image[0] >= 0 || staysWithin(of.of, Infinity, ranges)) return [];
    return [{ rule: "V2", message: `${of.kind} ${of.by} is of ${shownRange(image)}: it may be negative` }];
  });
}

/**
 * Returns the violations of rule V1 by an access map: coordinates that may be outside the tensor. `ranges`:
 * ranges of dims and index values.
 */
function outside(shaped: Shaped, forms: Forms, ranges: Ranges): Fault[] {
  const { map, inputs, output } = shaped;
  return coordinatesOf(forms, [...inputs, output]).flatMap(({ coord, extent, table, dim }): Fault[] => {
    const where = `dim ${dim} of ${shownInput(shaped, table)}, which has ${extent} elements`;
    // No element: the policy says what stands in its place.
    if (indicesOf(coord).some((s) => at(map.indices, s).extent === 0) || isEmptyReduction(coord, map))
      return [];
    if (staysWithin(coord, extent, ranges)) return [];
    const image = shownRange(rangeOf(coord, ranges));
    const hint = indicesOf(coord).length === 0 ? {} : { hint: `bound the sum: error(… in ${extent})` };
    return [{ rule: "V1", message: `a coordinate is ${image}, outside ${where}`, ...hint }];
  });
}
