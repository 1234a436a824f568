/**
 * Facts of a program that modules for every machine contain as JavaScript: operands, index values and sizes.
 */
import { indexed, type AccessMap } from "../../ir/access.js";
import { elementAddress, mapOverTensors } from "../../ir/addressing.js";
import { CompileError, error } from "../../ir/diagnostic.js";
import { maxSizes, dynamicFormOf, type Sizes } from "../../ir/symbols/index.js";
import { domainOver, extentsOver, type SymbolicIndex } from "../../ir/symbols/symbols.js";
import {
  outputPlace,
  keyOf,
  dynamicSymbols,
  outputOf,
  isInPlace,
  type DynamicTile,
  type TileFunc,
} from "../../ir/func.js";
import {
  atomsOf,
  constant,
  min,
  indicesOf,
  soleAtom,
  sub,
  substitute,
  type Linear,
} from "../../ir/linear.js";
import { coordinatesOf } from "../../ir/intervals/index-bounds.js";
import { hasDynamicTrips, taskOfTile, type ParallelLoop } from "../../ir/task/index.js";
import { at, bitsOf, elementTypes, isPacked, isSigned, maxElements, type Shape } from "../../ir/types.js";
import { hasScatter } from "../../ir/tile.js";
import { promisesUnique } from "../../ir/verify/write-rules.js";
import { tellingPoints } from "../../backends/check-points.js";
import { scatterMapOf } from "../../backends/scatter-map.js";
import { pickedBy } from "../../backends/resolved-indices.js";
import { tensorSteps } from "../../backends/index-walk.js";
import type { Kernel } from "../api/compile.js";
import { printExactForm, printSizeForm } from "./print-form.js";

/**
 * Tile program that an emitted module executes: with static sizes, or valid for all values of symbols (named
 * dynamic sizes).
 */
export type ModuleProgram = TileFunc | DynamicTile;

/**
 * Returns the tile program that a module executes. With dynamic sizes, the program is valid for every size;
 * throws a CompileError (TC502) if there is none.
 */
export function moduleProgram(kernel: Kernel): ModuleProgram {
  const symbols = kernel.access === undefined ? [] : dynamicSymbols(kernel.access);
  if (symbols.length === 0) return kernel.tile;
  const max = maxSizes(symbols);
  const form = dynamicFormOf(kernel.bind(validSizes(kernel, max)).tile);
  if (form !== undefined) return form.program;
  const message = `tilec has no code for @${kernel.name} that is valid for every size of ${symbols.map(({ name }) => name).join(", ")}`;
  const sizes = Object.entries(max).map(([name, size]) => `${name}=${size}`);
  throw new CompileError([error("TC502", message, { hint: `choose sizes: --bind ${sizes.join(",")}` })]);
}

/**
 * Returns sizes that a program accepts if it accepts any. The largest may be too many unique points for the
 * elements; one point along the dynamic dim is not.
 */
function validSizes({ access }: Kernel, max: Sizes): Sizes {
  const name = access?.symbolic?.domain?.find((symbol) => symbol !== null) ?? undefined;
  return access !== undefined && name !== undefined && promisesUnique(access.map)
    ? { ...max, [name]: 1 }
    : max;
}

/** True if a module's program is a scatter, or writes in place. */
export const isScatterProgram = (program: ModuleProgram): boolean =>
  hasScatter(program.body) || isInPlace(program);

/** Returns the access map of a module's program. Undefined for a program without a gather or scatter. */
export const moduleMap = (program: ModuleProgram): AccessMap | undefined =>
  isScatterProgram(program) ? scatterMapOf(program) : taskOfTile(program).gather?.stmt.map;

/** Returns the map of a module's program over whole tensors. Undefined if it is another in each tile. */
const mapOfTensors = (program: ModuleProgram): AccessMap | undefined =>
  isScatterProgram(program) ? scatterMapOf(program) : mapOverTensors(program, taskOfTile(program));

/**
 * Returns the JavaScript source of an object. `fields`: JavaScript of each value by field name; a field with
 * the value undefined is omitted.
 */
export const printObject = (fields: Readonly<Record<string, string | undefined>>): string =>
  `{${Object.entries(fields)
    .flatMap(([name, text]) => (text === undefined ? [] : [`${printKey(name)}:${text}`]))
    .join(",")}}`;

/** Returns the source text of a key in a JavaScript object, quoted if the key is not an identifier. */
export const printKey = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

/** Returns the JavaScript source of an array with one entry on each line; `[]` if there are no entries. */
export const printLines = (entries: readonly string[]): string =>
  entries.length === 0 ? "[]" : `[\n${entries.join(",\n")}]`;

/**
 * Returns the fields of `ModulePlan`, the object that describes a program to the module's runtime, as
 * JavaScript source by field name. `rejects`: true if the module reports index values out of range.
 */
export function printFacts(
  kernel: Kernel,
  program: ModuleProgram,
  rejects: boolean,
): Readonly<Record<string, string | undefined>> {
  const { operands, symbolic } = program;
  const map = moduleMap(program);
  const numbers = (symbolic?.symbols ?? []).map(({ name }) => `${name}: n.${name}`);
  for (const [s, index] of (map?.indices ?? []).entries()) {
    for (const [bound, name] of Object.entries(index.dynamic ?? {})) {
      const form = boundOf(program, s, bound === "extent" ? "extent" : "wrapNegativeBy");
      const value = `${name}: Math.max(0, ${printSizeForm(form)})`;
      if (!numbers.includes(value)) numbers.push(value);
    }
  }
  const printed = operands.map(({ type: { dtype, shape }, ...operand }, k) => {
    const extents = extentsOver(shape, symbolic?.outermost[k] ?? null);
    return printObject({
      key: JSON.stringify(keyOf(operand)),
      name: operand.name === keyOf(operand) ? undefined : JSON.stringify(operand.name),
      dtype: JSON.stringify(dtype),
      array: JSON.stringify(elementTypes[dtype].array.name),
      bits: `${bitsOf(dtype)}`,
      signed: isPacked(dtype) && isSigned(dtype) ? "true" : undefined,
      shape: `n=>[${extents.map((extent) => printSizeForm(extent)).join(",")}]`,
    });
  });
  const reduced = map?.reduced;
  const { type } = outputOf(program);
  const mayBeEmpty = type.shape.includes(0) || typeof symbolic?.outermost[outputPlace(program)] === "string";
  return {
    name: JSON.stringify(kernel.name),
    ...(symbolic === undefined
      ? {}
      : { symbols: JSON.stringify(symbolic.symbols), numbers: `n=>({${numbers.join(",")}})` }),
    operands: printLines(printed),
    sites: rejects ? printIndices(kernel, program) : "[]",
    ...(rejects && mayBeEmpty && map !== undefined
      ? { indexed: JSON.stringify([...indexed(map)].filter((d) => d < map.domain.length)) }
      : {}),
    ...(reduced === undefined || !rejects
      ? {}
      : { reduced: JSON.stringify(mapOfTensors(program)?.reduced ?? reduced) }),
  };
}

/**
 * Returns the source of a JavaScript array with one entry for each index operand. The module's runtime uses
 * an entry to report an index value out of range. Throws a CompileError (TC702) if the access map differs
 * between tiles.
 */
function printIndices(kernel: Kernel, program: ModuleProgram): string {
  const map = mapOfTensors(program);
  if (map === undefined) {
    const message = `the map of @${kernel.name} differs between tiles, and a module could not name an index out of range`;
    const hint = "compile the operator instead, or use another out-of-range policy than error";
    throw new CompileError([error("TC702", message, { span: program.span, hint })]);
  }
  const { operands } = program;
  return printLines(
    tensorSteps(map, operands).map(
      ({ index, table, form, rule, wrapNegativeBy, dynamic, inReduction, ends, isOfValue }) => {
        const needs = isOfValue && !inReduction ? indicesOf(form) : undefined;
        const { axis, picks } = pickedBy(map, operands, index);
        const printNumber = (value: number | undefined, name: string | undefined): string | undefined =>
          value === undefined ? undefined : name === undefined ? `${value}` : `n.${name}`;
        const wrap = printNumber(wrapNegativeBy, dynamic?.wrapNegativeBy);
        return printObject({
          table: table === undefined ? undefined : `${table}`,
          at: printFunction(form),
          rule:
            rule &&
            `n=>(${printObject({
              outside: JSON.stringify(rule.outside),
              extent: printNumber(rule.extent, rule.dynamic?.extent),
              wrapNegativeBy: printNumber(rule.wrapNegativeBy, rule.dynamic?.wrapNegativeBy),
              excluded: printNumber(rule.excluded, undefined),
            })})`,
          wrapNegativeBy: wrap && `n=>${wrap}`,
          inReduction: inReduction ? "true" : undefined,
          needs: needs && JSON.stringify(needs),
          ends: ends && printObject({ from: `${ends.from}`, max: `${ends.max}` }),
          axis: `${axis}`,
          picks: JSON.stringify(picks),
        });
      },
    ),
  );
}

/** Returns the fields of `ScatterPlan` that every scatter has, as JavaScript source by field name. */
export function printPoints(program: ModuleProgram): Readonly<Record<string, string | undefined>> {
  const map = scatterMapOf(program);
  return {
    points: printExtents(program, map, map.domain),
    inPlace: `${isInPlace(program)}`,
    isUnique: program.symbolic !== undefined && promisesUnique(map) ? "true" : undefined,
  };
}

/**
 * Returns the source of a JavaScript function from sizes to the extents of a scatter's domain. `extents`:
 * those of the domain, some of which may be replaced by 1.
 */
function printExtents({ symbolic }: ModuleProgram, { domain }: AccessMap, extents: Shape): string {
  const names = extents.map((extent, d) => (extent === domain[d] ? (symbolic?.domain?.[d] ?? null) : null));
  return `n=>[${domainOver(extents, names).map(printSizeForm).join(",")}]`;
}

/**
 * Returns the JavaScript source of an object with the facts by which the runtime of a `CpuScatterPlan` finds
 * two points that write the same element.
 */
export function printWritten(program: ModuleProgram): string {
  const map = scatterMapOf(program);
  const { shape } = outputOf(program).type;
  return printObject({
    telling: printExtents(program, map, tellingPoints(map)),
    written: `(d,s,n)=>${printExactForm(elementAddress(shape, map.write.at))}`,
  });
}

/**
 * Returns one bound of index operand number `s` as a linear form of sizes: the upper bound, or the number
 * added to negative values if `bound` is `wrapNegativeBy`. Without a stated bound, returns the smallest
 * extent of the dims that the operand indexes. Throws a CompileError (TC502) for an operand that is part of a
 * sum and states no bound.
 */
function boundOf(program: ModuleProgram, s: number, bound: "extent" | "wrapNegativeBy"): Linear {
  const indices: readonly SymbolicIndex[] = program.symbolic?.map.indices ?? [];
  const { extent, wrapNegativeBy } = at(indices, s);
  if (bound === "wrapNegativeBy" && wrapNegativeBy !== undefined && wrapNegativeBy !== "extent")
    return wrapNegativeBy;
  if (extent !== undefined) return extent;
  const { operands, symbolic } = program;
  const types = operands.map(({ type }) => type);
  const placed = symbolic === undefined ? [] : coordinatesOf(symbolic.map, types);
  const extents = placed.flatMap(({ coord, table, dim }) => {
    if (!indicesOf(coord).includes(s)) return [];
    const only = soleAtom(coord);
    if (only?.kind !== "index") {
      const message = `index value ${s} has no bound, and is part of a sum that selects along dim ${dim} of ${keyOf(at(operands, table))}`;
      const hint = "state the bound: error(%i[d0] in N) in place of %i[d0]";
      throw new CompileError([error("TC502", message, { span: program.span, hint })]);
    }
    const outermost = symbolic?.outermost[table] ?? null;
    return [at(extentsOver(at(operands, table).type.shape, outermost), dim)];
  });
  return extents.reduce(min, constant(maxElements));
}

/**
 * Returns a function of coordinates, index values and sizes, without those at the end that the form does not
 * have.
 */
function printFunction(form: Linear): string {
  const kinds = new Set(atomsOf(form).map(({ kind }) => kind));
  const params = kinds.has("symbol") ? "(d,s,n)" : kinds.has("index") ? "(d,s)" : "d";
  return `${params}=>${printExactForm(form)}`;
}

/**
 * Returns the source of a JavaScript function from sizes to the iteration counts of parallel loops, in the
 * order of `loops`.
 */
export function printTrips(loops: readonly ParallelLoop[]): string {
  const starts = new Map(loops.map(({ stmt }) => [stmt.iv, stmt.lower]));
  const first = (form: Linear): Linear =>
    substitute(form, (of) => {
      const start = of.kind === "iv" ? starts.get(of.name) : undefined;
      return start === undefined ? undefined : first(start);
    });
  const printed = loops.map((loop) => {
    const { lower, upper, step } = loop.stmt;
    if (!hasDynamicTrips(loop)) return `${loop.trips}`;
    return `Math.ceil(Math.max(0, ${printSizeForm(first(sub(upper, lower)))}) / ${step})`;
  });
  return `n=>[${printed.join(",")}]`;
}
