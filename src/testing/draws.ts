/**
 * The inputs of a comparison, drawn from a seed: two with every index in range, one with one index outside,
 * one with many. Kernels that differ in a policy alone give the same bits for indices in range. Points of a
 * scatter write other elements each where its duplicates are `unique` or `error`, and where they are an error
 * there is a draw with one.
 */
import {
  defined,
  elementCount,
  entryOf,
  indexPoints,
  isMove,
  isScatter,
  inputsOf,
  keyOf,
  resolveSource,
  sourceOp,
  type Func,
  type Operand,
} from "../../ir/index.js";
import { isInPlace } from "../../ir/func.js";
import {
  coordinates,
  resolvedIndices,
  indexTables,
  type HostInputs,
  type HostValue,
} from "../../backends/index.js";
import { mapOfOperator } from "../../backends/reference/defined-map.js";
import { checkDefinition } from "../api/check-definition.js";
import type { Kernel } from "../api/compile.js";
import { asHost } from "../formats/tensor.js";
import { makeDistinct, makeDuplicate } from "./distinct-writes.js";
import { indexLimits, indexRanges, type IndexRange } from "./index-ranges.js";
import {
  checkSizes,
  drawnIndices,
  endsOfType,
  fractions,
  indexWriter,
  indexProgram,
  randomData,
  type IndexDraw,
  type IndexProgram,
} from "./random.js";

/**
 * Inputs of one test run, by operand key. `indices`: name of the method that chose the index values, or `as
 * given`.
 */
export interface Draw {
  readonly indices: (typeof drawNames)[number] | (typeof extraNames)[number] | "as given";
  /** Seed of the random inputs. Absent if no input is random. */
  readonly seed?: number;
  readonly inputs: Readonly<Record<string, HostValue>>;
}

const drawNames = [
  "indices in range",
  "indices in range, first and last among them",
  "one index out of range",
  "many indices out of range",
] as const;

/** Names of further draws, which belong to no set of four. */
const extraNames = [
  // Finds what takes every index to be another one.
  "one index throughout",
  // Finds what changes bits that it moves.
  "data at the ends of its type",
  // Finds what takes a later point for an error of its own.
  "one duplicate",
] as const;
const [repeated, withEndsOfData, oneDuplicate] = extraNames;

/**
 * Returns a text that identifies drawn inputs, for example `inputs of seed 1, set 3 of 4: one index out of
 * range`. Returns undefined if the inputs were not drawn.
 */
export function inputsInWords({ indices, seed }: Draw): string | undefined {
  if (seed === undefined) return undefined;
  if (indices === "as given") return `inputs of seed ${seed}`;
  const set = drawNames.findIndex((name) => name === indices);
  const which = set === -1 ? "" : `, set ${set + 1} of ${drawNames.length}`;
  return `inputs of seed ${seed}${which}: ${indices}`;
}

/**
 * Returns the program that defines a kernel's output. The program is `definition` if given, else the
 * compiler's input, else the access map of the compiled kernel. Throws a CompileError if `definition` has a
 * symbol without a size (TC107) or operands that differ from the kernel's (TC702).
 */
export function definitionOf(
  { source, tile, resolved, definition: began }: Kernel,
  definition?: Func,
): IndexProgram {
  if (definition !== undefined) checkDefinition(definition, tile);
  if (definition?.level === "access") return definition;
  if (definition?.level === "source") {
    const result = resolveSource(sourceOp(definition));
    if (result.ok) return mapOfOperator(result.resolved, definition.operands);
  }
  if (resolved !== undefined) return mapOfOperator(resolved, (source ?? tile).operands);
  return began ?? indexProgram(tile);
}

/**
 * Yields inputs for the tests of a program: one draw if all index values are given, else four draws. The
 * index values of the four draws: all in range; first and last values included; one out of range; many out of
 * range.
 *
 * One more draw has a duplicate write if a scatter rejects duplicates. `ofOthers`: true to add draws for
 * kernels that tilec did not write. Throws a CompileError (TC502) for a tensor larger than an array.
 */
export function* drawsOf(
  { operands }: { readonly operands: readonly Operand[] },
  program: IndexProgram,
  seed: number,
  given: Readonly<Record<string, HostValue>> = {},
  { ofOthers = false }: { readonly ofOthers?: boolean } = {},
): Generator<Draw> {
  const isGiven = (operand: Operand): boolean =>
    operand.role === "output" ? isInPlace({ operands }) : Object.hasOwn(given, keyOf(operand));
  checkSizes(operands.filter((operand) => !isGiven(operand)));
  const indices = indexTables(program.map, { operands });
  const drawn = inputsOf({ operands }).flatMap((operand, table) =>
    indices.has(table) && !Object.hasOwn(given, keyOf(operand)) ? [{ operand, table }] : [],
  );
  const fixed = Object.fromEntries(
    inputsOf({ operands }).flatMap((operand) => {
      const key = keyOf(operand);
      if (drawn.some((range) => range.operand === operand)) return [];
      return [[key, entryOf(given, key) ?? asHost(key, randomData(operand.type, seed))] as const];
    }),
  );
  const tables = new Set(drawn.map(({ table }) => table));
  const { duplicates } = program.map.write;
  const isDistinct =
    program.tile === undefined && isScatter(program.map) && duplicates !== undefined && duplicates !== "last";
  const inputsFor = (number: number, choose?: Choose): Draw["inputs"] => {
    const inputs = {
      ...fixed,
      ...Object.fromEntries(
        drawn.map(({ operand, table }) => {
          const key = keyOf(operand);
          const draw = { seed: number, table, ...defined({ choose }) };
          return [key, asHost(key, drawnIndices(operand.type, program, draw))] as const;
        }),
      ),
    };
    if (isDistinct)
      makeDistinct(program, inputsOfProgram(program, { operands }, inputs), tables, fractions(number));
    return inputs;
  };
  const [inRange, withEnds, oneOutside, manyOutside] = drawNames;
  if (drawn.length === 0) {
    const isDrawn = inputsOf({ operands }).some((operand) => !Object.hasOwn(given, keyOf(operand)));
    yield { indices: "as given", ...(isDrawn ? { seed } : {}), inputs: inputsFor(seed) };
    return;
  }
  yield { indices: inRange, seed, inputs: inputsFor(seed) };
  yield { indices: withEnds, seed, inputs: inputsFor(seed + seedStep, ends) };
  const many = inputsFor(seed + 3 * seedStep, outside);
  const one = inputsFor(seed + 2 * seedStep);
  moveOneOutside(one, many, { program, operands, tables, seed });
  yield { indices: oneOutside, seed, inputs: one };
  yield { indices: manyOutside, seed, inputs: many };
  if (isDistinct && duplicates === "error") {
    const inputs = inputsFor(seed + 5 * seedStep);
    if (makeDuplicate(program, inputsOfProgram(program, { operands }, inputs), tables))
      yield { indices: oneDuplicate, seed, inputs };
  }
  if (!ofOthers) return;
  const same: Choose = ({ least, max }) => least + (seed % (max - least + 1));
  yield { indices: repeated, seed, inputs: inputsFor(seed + 4 * seedStep, same) };
  // Of sums and products NaN alone would be left.
  if (!isMove(program.map)) return;
  const atEnds = inputsOf({ operands }).flatMap((operand, table) => {
    const key = keyOf(operand);
    if (indices.has(table) || Object.hasOwn(given, key)) return [];
    const data = endsOfType(operand.type, seed);
    return data === undefined ? [] : [[key, asHost(key, data)] as const];
  });
  if (atEnds.length === 0) return;
  yield {
    indices: withEndsOfData,
    seed,
    inputs: { ...inputsFor(seed + 6 * seedStep), ...Object.fromEntries(atEnds) },
  };
}

/**
 * Returns the given inputs with the keys and types that `program` has for the inputs. Inputs are matched by
 * position; an input without a value is left out.
 */
export function inputsOfProgram(
  program: IndexProgram,
  { operands }: { readonly operands: readonly Operand[] },
  inputs: Draw["inputs"],
): HostInputs {
  const programInputs = inputsOf(program);
  return Object.fromEntries(
    inputsOf({ operands }).flatMap((operand, k) => {
      const [value, other] = [entryOf(inputs, keyOf(operand)), programInputs[k]];
      return value === undefined || other === undefined
        ? []
        : [[keyOf(other), { ...value, type: other.type }] as const];
    }),
  );
}

/** Between the seeds of two draws. */
const seedStep = 1_000_003;

/**
 * Returns a number below `count` for a position. Neighbours along every dim of a tensor get different
 * numbers, whatever its shape.
 */
const roundRobin = (position: number, count: number): number =>
  (position + Math.floor(position / count)) % count;

type Choose = NonNullable<IndexDraw["choose"]>;

/** Chooses index values in range, round-robin: last, first from the end, last from the end, first, any. */
const ends: Choose = ({ least, max, wrapNegativeBy = 0 }, position, random) => {
  const any = least + Math.floor(random() * (max - least + 1));
  const last = Math.min(max, wrapNegativeBy - 1);
  const fromTheEnd = (element: number): number => (last < least ? any : element - wrapNegativeBy);
  return [max, fromTheEnd(least), fromTheEnd(last), least, any][roundRobin(position, 5)] ?? any;
};

/**
 * Returns values outside a range whose low bits look in range or negative, and the ends of the type. They
 * reveal a kernel that reads too few bits of an index, misinterprets its sign bit, or overflows.
 */
const farOf = ({ max, limits: [lowest, highest] }: IndexRange, inRange: number): readonly number[] => [
  highest,
  ...(lowest < 0 ? [lowest] : []),
  ...[7, 8, 15, 16, 31, 32]
    .map((bits) => inRange + 2 ** bits)
    .filter((value) => value > max && value <= highest),
];

/**
 * Chooses index values round-robin: negative, too small, first, last, beyond, far beyond. If the type has no
 * negative values, values beyond the range replace those that are too small.
 */
const outside: Choose = (range, position, random) => {
  const { least, max, wrapNegativeBy = 0, promised, limits } = range;
  const any = least + Math.floor(random() * (max - least + 1));
  if (promised) return any;
  const further = random() < 0.5 ? 0 : Math.floor(random() * (max - least + 2));
  const beyond = max + 1 + further;
  const tooSmall = limits[0] < 0 ? least - wrapNegativeBy - 1 - further : beyond;
  const negative = wrapNegativeBy > 0 ? -1 - Math.floor(random() * wrapNegativeBy) : tooSmall;
  const list = farOf(range, any);
  const far = list[Math.floor(random() * list.length)] ?? beyond;
  return [negative, tooSmall, least, max, beyond, far][roundRobin(position, 6)] ?? any;
};

/** Output elements whose indices are looked at for one to move. */
const elementsTried = 32;

interface OneOutside {
  readonly program: IndexProgram;
  readonly operands: readonly Operand[];
  /** The inputs that were drawn, by their number. */
  readonly tables: ReadonlySet<number>;
  readonly seed: number;
}

/**
 * Changes one index value in `inputs`, in place, to a value just out of range; does nothing if no value can
 * be changed. `others`: another draw, with many rejected index values. If possible, the changed value and the
 * first rejected value of `others` belong to different index operands.
 */
function moveOneOutside(
  inputs: Draw["inputs"],
  others: Draw["inputs"],
  { program, operands, tables, seed }: OneOutside,
): void {
  const programInputs = inputsOf(program);
  const points = indexPoints(program.map);
  const count = elementCount(points);
  const elements = (first: number): number[] =>
    Array.from({ length: Math.min(count, elementsTried) }, (_, k) => (first + k * 7919) % count);
  const flatIndices = (from: HostInputs, element: number) =>
    resolvedIndices({ ...program, inputs: from }, coordinates(element, points));
  const changed = inputsOfProgram(program, { operands }, inputs);
  const many = inputsOfProgram(program, { operands }, others);
  const ended = Array.from({ length: Math.min(count, elementsTried) }, (_, element) => element)
    .flatMap((element) => flatIndices(many, element))
    .find(({ rejected }) => rejected)?.at.index;
  const candidates = elements((Math.imul(seed, 0x9e3779b1) >>> 0) % Math.max(1, count))
    .flatMap((element) => flatIndices(changed, element))
    .flatMap(({ at: { index, read } }) => {
      const table = programInputs.findIndex((operand) => keyOf(operand) === read?.table.key);
      if (read === undefined || !tables.has(table)) return [];
      const { dtype } = read.table.type;
      const { least, max, wrapNegativeBy = 0, promised } = indexRanges(program, table)(read.position);
      const [lowest, highest] = indexLimits(dtype);
      const value = [max + 1, least - wrapNegativeBy - 1].find((v) => v >= lowest && v <= highest);
      if (promised || value === undefined) return [];
      return [{ index, table, position: read.position, value, dtype }];
    })
    .sort((a, b) => Number(a.index === ended) - Number(b.index === ended) || b.index - a.index);
  const [chosen] = candidates;
  const operand = chosen === undefined ? undefined : inputsOf({ operands })[chosen.table];
  const host = operand === undefined ? undefined : entryOf(inputs, keyOf(operand));
  if (chosen !== undefined && host !== undefined)
    indexWriter(host.bytes, chosen.dtype)(chosen.position, chosen.value);
}
