/** A tile program's statements one after the other, each with the boxes that it reads and writes. */
import { execution, type Step } from "../../../ir/clock/execution.js";
import {
  accessesOf,
  defined,
  dataCoords,
  isScatter,
  at,
  elementCount,
  entryOf,
  evaluate,
  inputsOf,
  keyOf,
  outputOf,
  outputRegion,
  printStmtHead,
  taskOfTile,
  ubBuffers,
  type Env,
  type Region,
  type TileFunc,
} from "../../../ir/index.js";
import { IndexWalk, tensorSteps } from "../../../backends/index-walk.js";
import { coordinates, indexReader, type HostValue } from "../../../backends/index.js";
import { compile, type Kernel } from "../../../src/api/compile.js";
import { showElement } from "../../../src/formats/elements.js";
import { inputsFor } from "./inputs.js";
import type { Box, Picked, RunStep, Steps, StepTensor, WithInputs } from "./messages.js";
import { boundFunc } from "./program.js";

/** Statements that are kept. */
const mostSteps = 2000;
/** Elements of a tensor whose values are shown. */
const mostShown = 400;
/** Elements of one gather that are followed to where they come from. */
const mostPicks = 64;

/**
 * Returns the trace of a tile program ({@link Steps}): the first 2000 executed statements with the tensor
 * regions that each reads and writes, and the program's tensors. Throws a CompileError if the program is
 * refused.
 */
export function kernelSteps({ inputs: given, seed, ...asked }: WithInputs): Steps {
  const kernel = compile(boundFunc(asked));
  const { tile } = kernel;
  const buffers = ubBuffers(tile);
  const made = outputRegion(tile, taskOfTile(tile));
  const env = new Map<string, number>();
  const steps: RunStep[] = [];
  let task = -1;
  let more = false;
  const whole = (name: string): Pick<Box, "name" | "offsets" | "sizes"> => {
    const shape = buffers.get(name)?.shape ?? [];
    return { name, offsets: shape.map(() => 0), sizes: shape };
  };
  for (const step of execution(tile.body, env)) {
    if (steps.length >= mostSteps) {
      more = true;
      break;
    }
    if (step.op === "task") task++;
    const loops = [...env];
    steps.push({
      op: step.op,
      task: Math.max(0, task),
      text: step.op === "task" ? `task ${task} begins` : printStmtHead(step),
      loops,
      boxes: boxesOf(step, env, whole),
      ...(step.op === "gather" && made !== undefined ? { made: boxOf(made, env) } : {}),
    });
  }
  const values = small(kernel) ? inputsFor(kernel, given, seed) : {};
  return { steps, more, tensors: tensorsOf(tile, values) };
}

const small = ({ tile }: Kernel): boolean =>
  inputsOf(tile).some(({ type }) => elementCount(type.shape) <= mostShown) &&
  inputsOf(tile).every(({ type }) => elementCount(type.shape) <= 2 ** 20);

const boxOf = ({ offsets, sizes }: Region, env: Env): Pick<Box, "offsets" | "sizes"> => ({
  offsets: offsets.map((offset) => evaluate(offset, env)),
  sizes: sizes.map((size) => evaluate(size, env)),
});

/**
 * Returns the regions of tensors and buffers that an executed statement reads or writes. Temporary buffers of
 * the statement are left out. Returns an empty list for a step that starts a task.
 */
function boxesOf(
  step: Step,
  env: Env,
  whole: (name: string) => Pick<Box, "name" | "offsets" | "sizes">,
): readonly Box[] {
  if (step.op === "task") return [];
  const accesses = accessesOf(step).filter(({ temporary }) => temporary !== true);
  // A tile that is taken whole holds the elements of the other side, from its origin.
  const sizes = accesses.flatMap(({ region }) => (region === undefined ? [] : [boxOf(region, env).sizes]))[0];
  return accesses.map(({ buffer, region, write }) =>
    region === undefined
      ? { ...whole(buffer), ...defined({ sizes }), write }
      : { name: buffer, ...boxOf(region, env), write },
  );
}

/**
 * Returns the operands and the unified-buffer (UB) buffers of a tile program. An operand of up to 400
 * elements includes the element values from `values`, except strings.
 */
function tensorsOf(tile: TileFunc, values: Readonly<Record<string, HostValue>>): readonly StepTensor[] {
  const params = tile.operands.map((operand): StepTensor => {
    const { name, type } = operand;
    const value = entryOf(values, keyOf(operand));
    const count = elementCount(type.shape);
    const shown =
      value === undefined || count > mostShown || value.type.dtype === "string"
        ? undefined
        : Array.from(
            { length: count },
            (_, k) => showElement(type.dtype, value.bytes, k).split(" ")[0] ?? "",
          );
    return { name, ...type, space: "gm", ...defined({ values: shown }) };
  });
  const buffers = [...ubBuffers(tile).values()].map(({ name, dtype, shape }): StepTensor => ({
    name,
    dtype,
    shape,
    space: "ub",
  }));
  return [...params, ...buffers];
}

/**
 * Returns the origins of the first 64 elements of an output region: the index values, and the coordinates of
 * the data element. Returns an empty list for a scatter, and for a program without an access map.
 */
export function picksOf(
  { inputs: given, seed, ...asked }: WithInputs,
  { offsets, sizes }: Pick<Box, "offsets" | "sizes">,
): readonly Picked[] {
  const kernel = compile(boundFunc(asked));
  const { access } = kernel;
  // A region that a scatter writes is named by index values, and is no region of its points.
  if (access === undefined || isScatter(access.map)) return [];
  const hosts = inputsFor(kernel, given, seed);
  const { map, operands } = access;
  const walk = new IndexWalk(tensorSteps(map, operands));
  const { shape } = outputOf(access).type;
  const count = Math.min(mostPicks, elementCount(sizes));
  return Array.from({ length: count }, (_, k) => {
    const inside = coordinates(k, sizes);
    const out = shape.map((_, d) => (offsets[d] ?? 0) + (inside[d] ?? 0));
    const seen: Picked["sites"][number][] = [];
    for (const step of walk.steps) {
      let value: bigint;
      if (step.table === undefined) value = walk.sum(step, out, noLoops);
      else {
        const table = at(operands, step.table);
        const position = walk.position(step, out, noLoops);
        value = indexReader(entryOf(hosts, keyOf(table))?.bytes ?? new Uint8Array(), table.type.dtype).exact(
          position,
        );
        seen.push({
          table: table.name,
          at: coordinates(position, table.type.shape),
          value: value.toString(),
        });
      }
      if (walk.take(step, Number(value), { exact: () => value }, 0) < 0) return { out, sites: seen };
    }
    const { indices } = walk;
    return {
      out,
      sites: seen,
      from: dataCoords(map).map((result) => evaluate(result, noLoops, { dims: out, indices })),
    };
  });
}

const noLoops: Env = new Map();
