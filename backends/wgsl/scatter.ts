/** scatter: the text of a kernel that writes points, an entry point for each of its steps. */
import { fillBytes, gatheredTable } from "../../ir/access.js";
import { inputOf, outputBytes, outputOf } from "../../ir/func.js";
import { printTypes, printStmtHead } from "../../ir/text/print.js";
import type { Amount } from "../../ir/text/form-text.js";
import type { Linear } from "../../ir/linear.js";
import { assertNever, at, invariant, strides, type Shape } from "../../ir/types.js";
import { bitsOfNumber, isFloatValue, isValueType, numberOf, type SourceType } from "../../ir/values/index.js";
import { nativeArithmetic } from "./arithmetic.js";
import { emitBindings } from "./bindings.js";
import { inAccesses, lowBits, WgslContext } from "./context.js";
import { fillWords } from "./elements.js";
import { named, zero } from "./forms.js";
import type { AccessWords } from "./gather-move.js";
import {
  declareBad,
  declareIndices,
  emitIndexHelpers,
  emitReport,
  mayEnd,
  narrowForm,
  valueFlags,
} from "./index-values.js";
import { none } from "./resolve.js";
import {
  entryOfStep,
  filledBase,
  isAtomic,
  pointLanes,
  type PointStep,
  type ScatterMove,
} from "./scatter-move.js";
import { emitValueHelpers } from "./value-helpers.js";
import { isNative } from "./value-proofs.js";
import { printed, stepText, valueHelpers } from "./value-steps.js";
import { declareValue, extracted } from "./values.js";
import type { PlannedScatter, WgslPlan } from "./plan.js";

/** Mark of a status word that names a point whose element an earlier point wrote. */
const duplicate = "0x80000000u";

/** Returns the WGSL text of a scatter's kernel. */
export function emitScatterKernel(plan: WgslPlan, { move, dispatches }: PlannedScatter): string {
  const context = new WgslContext(plan);
  const { out } = context;
  const { func } = plan;
  const types = printTypes(func).map((type, k) => `%${at(func.operands, k).name}: ${type}`);
  out.line(`// @${func.name}(${types.join(", ")})`);
  const values = [move.point.values, move.combined?.step].filter((value) => value !== undefined);
  if (values.some(isNative)) out.line(`// ${nativeArithmetic}`);
  emitBindings(context);
  out.line("");
  emitIndexHelpers(context, move.point);
  emitValueHelpers(out, new Set(values.flatMap((value) => [...valueHelpers(value)])));
  if (move.combined !== undefined) emitCombined(context, move.combined);
  out.line(`// ${printStmtHead(move.stmt)}`);
  move.steps.forEach((step, k) => {
    const entry = k === move.steps.length - 1 ? "main" : entryOfStep(step);
    emitStep(context, move, step, entry, at(dispatches, k));
  });
  return out.toString();
}

/**
 * Emits the WGSL function `combined`, which returns the combination of an output element with a point's
 * value.
 */
function emitCombined(
  { out }: WgslContext,
  { step: { plan, proofs } }: NonNullable<ScatterMove["combined"]>,
): void {
  out.block("fn combined(element: u32, value: u32) -> u32", () => {
    const names: string[] = [];
    plan.steps.forEach((step, k) => {
      if (step.kind === "read") {
        names.push(step.read === 0 ? "element" : "value");
        return;
      }
      out.line(`let step${k} = ${stepText(step, proofs.steps[k], (of) => at(names, of), printed)};`);
      names.push(`step${k}`);
    });
    out.line(`return ${names.at(-1) ?? "element"};`);
  });
  out.line("");
}

/** Emits the WGSL entry point of one step of a scatter's kernel. */
function emitStep(
  context: WgslContext,
  move: ScatterMove,
  step: PointStep,
  entry: string,
  [columns, rows]: WgslPlan["grid"]["dispatch"],
): void {
  const { out, plan } = context;
  out.line(`@compute @workgroup_size(${pointLanes})`);
  // Another size may have other columns.
  const isDynamic = rows > 1 && plan.func.symbolic !== undefined;
  const builtins = [
    "@builtin(workgroup_id) group: vec3u",
    ...(isDynamic ? ["@builtin(num_workgroups) groups: vec3u"] : []),
    "@builtin(local_invocation_index) lane_index: u32",
  ];
  out.block(`fn ${entry}(${builtins.join(", ")})`, () => {
    const inRow = isDynamic ? "groups.x" : `${columns}u`;
    const group = rows > 1 ? `(group.y * ${inRow} + group.x)` : "group.x";
    out.line(`let number = ${group} * ${pointLanes}u + lane_index;`);
    const [lanes, ...others] = step.lanes;
    // Where there are several numbers, the step compares each.
    if (lanes !== undefined && others.length === 0)
      out.line(`if (number >= ${context.form(lanes)}) { return; }`);
    switch (step.kind) {
      case "base":
        emitBase(context, move, step);
        break;
      case "clear":
      case "own":
      case "compare":
      case "check":
        emitOwners(context, move, step);
        break;
      case "write":
        emitWrite(context, move, step);
        break;
      default:
        assertNever(step);
    }
  });
}

/** Returns the name of the array that points are written in. */
const targetName = ({ names, plan }: WgslContext, { inPlace }: ScatterMove): string =>
  names.buffer((inPlace ? inputOf(plan.func, gatheredTable) : outputOf(plan.func)).name);

/**
 * Emits the step `base`. Lane k of the dispatch writes `width` consecutive 32-bit words of the base to the
 * output, from word k * `width` on. The lane also clears entry k of the array `owner`.
 */
function emitBase(
  context: WgslContext,
  move: ScatterMove,
  { copies, clears }: Extract<PointStep, { readonly kind: "base" }>,
): void {
  const { out, names, plan } = context;
  const { width, map } = move;
  const output = outputOf(plan.func);
  const bits = filledBase(map);
  const filled = fillWords(
    { ...move.point, fill: fillBytes({ fill: bits ?? "0" }, output.type.dtype) },
    0,
    width,
  );
  const base =
    bits === undefined ? `${names.buffer(inputOf(plan.func, gatheredTable).name)}[number]` : filled;
  const wide = outputBytes(plan.func) / 4 / width;
  const target = `${targetName(context, move)}[number]`;
  const text = bits !== undefined && wide > 1 ? wideFill(bits, move, context) : base;
  const store = isAtomic(move) ? `atomicStore(&${target}, ${text});` : `${target} = ${text};`;
  out.line(`if (number < ${context.form(copies)}) { ${store} }`);
  if (move.owners !== undefined)
    out.line(`if (number < ${context.form(clears)}) { atomicStore(&owner[number], 0u); }`);
}

/** Returns the word of a constant base of elements of several words. */
function wideFill(bits: string, { point }: ScatterMove, { plan }: WgslContext): string {
  const fill = fillBytes({ fill: bits }, outputOf(plan.func).type.dtype);
  const words = Array.from({ length: fill.length / 4 }, (_, k) => fillWords({ ...point, fill }, k, 1));
  if (words.every((word) => word === words[0])) return at(words, 0);
  return `array<u32, ${words.length}>(${words.join(", ")})[number % ${words.length}u]`;
}

/**
 * Emits WGSL declarations of the coordinates that a row-major number stands for, and returns the coordinates.
 * `name`: WGSL variable with the number. `group`: consecutive elements along the innermost dim that one
 * number stands for.
 */
function declareCoords({ out }: WgslContext, extents: Shape, name: string, group = 1): Amount[] {
  const lanes = extents.map((extent, d) => (d === extents.length - 1 ? extent / group : extent));
  const by = strides(lanes);
  return lanes.map((extent, d) => {
    if (extent === 1) return zero;
    const step = at(by, d);
    const divided = step === 1 ? name : `${name} / ${step}u`;
    const isFirst = lanes.slice(0, d).every((outer) => outer === 1);
    out.line(`let d${d} = ${isFirst ? divided : `${step === 1 ? divided : `(${divided})`} % ${extent}u`};`);
    return named(`d${d}`, d === extents.length - 1 ? group : 1);
  });
}

/** Returns the text of a condition that is true where a point writes; undefined where all points do. */
function writes({ point }: ScatterMove): string | undefined {
  return mayEnd(point, false) ? "alive" : undefined;
}

/** Returns the text of the number of a form's element at a point. */
const numberOfForm = (
  context: WgslContext,
  { point }: ScatterMove,
  form: Linear,
  coords: readonly Amount[],
): string => narrowForm(context, point, form, coords);

/** Returns the key by which a point owns an element: the largest wins. */
const keyOfPoint = (isFirst: boolean, number: string): string =>
  isFirst ? `${none} - ${number}` : `${number} + 1u`;

/**
 * Emits a step that runs before any point writes. The step reports index values out of range, and clears,
 * sets or compares entries of the array `owner`.
 */
function emitOwners(
  context: WgslContext,
  move: ScatterMove,
  { kind, points }: Extract<PointStep, { readonly points: Shape }>,
): void {
  const { out } = context;
  const { point, owners } = move;
  const coords = declareCoords(context, points, "number");
  declareBad(context, point);
  declareIndices(context, point, { coords });
  // Terms have index values of their own, which are looked at before anything is written.
  if (kind !== "compare" && reportsReductionIndices(move))
    context.guarded(valueConditions(move), () => {
      out.line(`_ = ${declareValue(context, point, valuesIn(move), { coords })(0)};`);
    });
  emitReport(context, point);
  if (owners === undefined) return;
  const place = context.address(point.addresses.output, coords);
  const key = keyOfPoint(owners.isFirst, `(${place})`);
  context.guarded([...inRange(context, move, owners.entry, coords, "entry", owners.entries)], () => {
    if (kind === "clear") out.line("atomicStore(&owner[entry], 0u);");
    if (kind === "own") out.line(`atomicMax(&owner[entry], ${key});`);
    if (kind === "compare") {
      out.line(
        `if (atomicLoad(&owner[entry]) != ${key}) { atomicMin(&status[0], (${place}) | ${duplicate}); }`,
      );
    }
  });
}

/** True if a reduction of a point's value may report an index value. */
const reportsReductionIndices = ({ point, inPlace, owners }: ScatterMove): boolean =>
  (inPlace || owners !== undefined) &&
  point.indices.some(({ inReduction, rule }) => inReduction && rule?.outside === "report");

const valuesIn = ({ point: { values } }: ScatterMove) => {
  invariant(values !== undefined, "a value with terms is computed");
  return values;
};

/** Returns the conditions under which a point's value is made of elements, rather than of the fill bits. */
const valueConditions = (move: ScatterMove): readonly string[] => {
  const alive = writes(move);
  return [...(alive === undefined ? [] : [alive]), ...valueFlags(move.point)];
};

/**
 * Emits the declaration of the WGSL variable `name`, an array index with the value of `form`. Returns the
 * WGSL conditions to test before the index is used: that the point writes, and that the index is below
 * `count`. A condition that needs no test is left out.
 */
function inRange(
  context: WgslContext,
  move: ScatterMove,
  form: Linear,
  coords: readonly Amount[],
  name: string,
  count: Linear,
): readonly string[] {
  context.out.line(`let ${name} = ${numberOfForm(context, move, form, coords)};`);
  const isPromised = move.point.indices.some(({ rule }) => rule?.outside === "promised");
  const alive = writes(move);
  return [
    ...(alive === undefined ? [] : [alive]),
    ...(isPromised ? [`${name} < ${context.form(count)}`] : []),
  ];
}

/**
 * Emits the step `write`. A lane writes one point, or one group of neighbouring points, or in a loop all
 * points along the dims `carrying`.
 */
function emitWrite(
  context: WgslContext,
  move: ScatterMove,
  { carrying, carried }: Extract<PointStep, { readonly kind: "write" }>,
): void {
  const { out } = context;
  const { map, group, inPlace, reports, owners } = move;
  // A run that is rejected has written nothing.
  if (inPlace && reports && owners?.isFirst !== true)
    out.line(`if (atomicLoad(&status[0]) != ${none}) { return; }`);
  if (carrying.length === 0) {
    emitPoint(context, move, declareCoords(context, map.domain, "number", group));
    return;
  }
  const extents = (isCarried: boolean): Shape =>
    map.domain.map((extent, d) => (carrying.includes(d) === isCarried ? extent : 1));
  const outer = declareCoords(context, extents(false), "number");
  out.block(`for (var turn = 0u; turn < ${context.form(carried)}; turn += 1u)`, () => {
    const inner = declareCoords(context, extents(true), "turn");
    emitPoint(
      context,
      move,
      map.domain.map((_, d) => at(carrying.includes(d) ? inner : outer, d)),
    );
  });
}

/**
 * Emits the write of one point, or of a group of neighbouring points. The write happens only if the point
 * writes and owns the element.
 */
function emitPoint(context: WgslContext, move: ScatterMove, coords: readonly Amount[]): void {
  const { out } = context;
  const { point, owners, written, elements, packs, inPlace } = move;
  declareBad(context, point);
  declareIndices(context, point, { coords });
  const conditions = inRange(context, move, written, coords, "to", elements);
  context.guarded(conditions, () => {
    const store = (): void => {
      if (packs) emitPacked(context, move, coords);
      else if (point.values === undefined) emitCopies(context, move, coords);
      else emitBits(context, move, elementBits(context, move, coords));
    };
    if (owners === undefined) {
      store();
      return;
    }
    const entry = numberOfForm(context, move, owners.entry, coords);
    const ofRow = coords.map((coord, d) => (at(owners.points, d) === 1 ? zero : coord));
    const number = context.address(point.addresses.output, ofRow);
    const key = keyOfPoint(owners.isFirst, `(${number})`);
    if (!owners.isFirst) {
      out.block(`if (atomicLoad(&owner[${entry}]) == ${key})`, store);
      return;
    }
    const place = context.address(point.addresses.output, coords);
    out.line("let rejected = atomicLoad(&status[0]);");
    out.line(`let kept = atomicLoad(&owner[${entry}]);`);
    out.block(`if (rejected == ((${place}) | ${duplicate}))`, () => {
      out.line(`atomicStore(&status[1], ${none} - kept);`);
      out.line("atomicStore(&status[2], to);");
    });
    out.block(`if (kept == ${key}${inPlace ? ` && rejected == ${none}` : ""})`, store);
  });
  emitReport(context, point);
}

/** Declares where a move reads its element, and returns the name of the buffer that it reads. */
function declareSource(context: WgslContext, { point, map }: ScatterMove, coords: readonly Amount[]): string {
  const read = map.reads[0];
  invariant(read !== undefined, "a move reads an element");
  context.out.line(`let source = ${narrowForm(context, point, at(point.addresses.reads, 0), coords)};`);
  return context.names.buffer(inputOf(context.plan.func, read.table).name);
}

/** Returns the text of some words, or the fill's where a point lacks an element. */
function orFilled({ point }: ScatterMove, text: string, first: number, words: AccessWords): string {
  const has = valueFlags(point);
  return has.length === 0 ? text : `select(${fillWords(point, first, words)}, ${text}, ${has.join(" && ")})`;
}

/**
 * Emits the code that copies an element, or a group of elements, from the updates to the output without
 * arithmetic.
 */
function emitCopies(context: WgslContext, move: ScatterMove, coords: readonly Amount[]): void {
  const { out, plan } = context;
  const { width, group } = move;
  const size = outputBytes(plan.func);
  if (group * size < 4) {
    emitBits(context, move, elementBits(context, move, coords));
    return;
  }
  const updates = declareSource(context, move, coords);
  const target = targetName(context, move);
  const perAccess = (4 * width) / size;
  const accesses = Math.max(1, (group * size) / (4 * width));
  const place = (of: string, k: number): string => `${inAccesses(of, perAccess)}${k === 0 ? "" : ` + ${k}u`}`;
  for (let k = 0; k < accesses; k++)
    out.line(
      `${target}[${place("to", k)}] = ${orFilled(move, `${updates}[${place("source", k)}]`, k * width, width)};`,
    );
}

/**
 * Emits the declarations of a point's value, for elements of at most 32 bits. Returns the WGSL expression of
 * the value's bits.
 */
function elementBits(context: WgslContext, move: ScatterMove, coords: readonly Amount[]): string {
  const { point } = move;
  if (point.values === undefined) {
    const updates = declareSource(context, move, coords);
    return orFilled(
      move,
      context.unpack((place) => `${updates}[${place}]`, "source"),
      0,
      1,
    );
  }
  const bits = declareValue(context, point, point.values, { coords })(0);
  const has = valueFlags(point);
  return has.length === 0 ? bits : `select(${filledValue(context, move)}, ${bits}, ${has.join(" && ")})`;
}

/**
 * Returns the value of a point that reads no element: the fill element as WGSL text. If the scatter combines,
 * the fill element is converted to the value's type.
 */
function filledValue({ plan }: WgslContext, { point, combined }: ScatterMove): string {
  const { dtype } = outputOf(plan.func).type;
  const word = parseInt(fillWords(point, 0, 1));
  const bits = outputBytes(plan.func) === 4 ? word : word % 2 ** (8 * outputBytes(plan.func));
  if (combined === undefined) return `${bits}u`;
  const { from } = combined;
  invariant(isValueType(dtype) && isValueType(from), `points combine in ${dtype}`);
  const value = numberOf(dtype, bits);
  // Integers have their signs extended.
  return `${(isFloatValue(from) ? bitsOfNumber(from, value) : value) >>> 0}u`;
}

/**
 * Emits code that reads or computes the elements of one 32-bit word one by one, packs the elements, and
 * stores the word.
 */
function emitPacked(context: WgslContext, move: ScatterMove, coords: readonly Amount[]): void {
  const { out, plan } = context;
  const bits = 8 * outputBytes(plan.func);
  const last = coords.length - 1;
  out.line("var word = 0u;");
  for (let e = 0; e < move.group; e++)
    out.block("", () => {
      const coord = at(coords, last);
      const text = coord.by === 0 ? `${e}u` : `(${coord.text ?? ""} * ${coord.by}u + ${e}u)`;
      const element = e === 0 ? coords : coords.map((other, d) => (d === last ? named(text) : other));
      out.line(`word |= (${elementBits(context, move, element)} & ${lowBits(bits)}) << ${e * bits}u;`);
    });
  out.line(`${targetName(context, move)}[${inAccesses("to", move.group)}] = word;`);
}

/** Emits the write of one element of at most 32 bits. `bits`: WGSL text of the element's bits. */
function emitBits(context: WgslContext, move: ScatterMove, bits: string): void {
  const { out, plan } = context;
  const { writing, combined } = move;
  const size = outputBytes(plan.func);
  const target = targetName(context, move);
  const isShared = size < 4;
  const width = 8 * size;
  if (isShared) {
    out.line(`let place = ${inAccesses("to", 4 / size)};`);
    out.line(`let shift = (to & ${4 / size - 1}u) * ${width}u;`);
  }
  const place = isShared ? "place" : "to";
  const inWord = (value: string): string => (isShared ? `((${value}) & ${lowBits(width)}) << shift` : value);
  const mask = `(${lowBits(width)} << shift)`;
  switch (writing) {
    case "store":
      out.line(`${target}[to] = ${combined === undefined ? bits : `combined(${target}[to], ${bits})`};`);
      break;
    case "add":
      out.line(`atomicAdd(&${target}[to], ${bits});`);
      break;
    case "owned bits":
      out.line(`let value = ${bits};`);
      out.line(`atomicAnd(&${target}[place], ~${mask});`);
      out.line(`atomicOr(&${target}[place], ${inWord("value")});`);
      break;
    case "exchange": {
      out.line(`let value = ${bits};`);
      out.line(`var old = atomicLoad(&${target}[${place}]);`);
      out.block("loop", () => {
        const element = isShared
          ? extracted((combined?.dtype ?? "u32") as SourceType, "old", "shift")
          : "old";
        const result = combined === undefined ? "value" : `combined(${element}, value)`;
        const word = isShared ? `(old & ~${mask}) | (${inWord(result)})` : result;
        out.line(`let tried = atomicCompareExchangeWeak(&${target}[${place}], old, ${word});`);
        out.line("if (tried.exchanged) { break; }");
        out.line("old = tried.old_value;");
      });
      break;
    }
    default:
      assertNever(writing);
  }
}
