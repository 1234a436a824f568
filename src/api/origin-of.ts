/** Origin of an output element of a run: index values, tile, task and core, statement. */
import type { BackendChoice, BackendName } from "./backends.js";
import { coordinates, resolvedIndices, type HostInputs } from "../../backends/index.js";
import {
  cyclesOf,
  blockPartition,
  formatShape,
  iterations,
  iterationWriting,
  outputOf,
  printStmtHead,
  targetFacts,
  taskOfTile,
  type Env,
  type Span,
  type Target,
  type TileFunc,
} from "../../ir/index.js";

/** Execution of a tile program: the program, target, inputs and backend. Argument of {@link originOf}. */
export interface RunInputs {
  readonly tile: TileFunc;
  readonly target: Target;
  readonly inputs: HostInputs;
  /** Backend that ran the program. Only the built-in backends `sim` and `webgpu` run the tiles. */
  readonly backend: BackendChoice;
}

/** True if a backend runs the tile program itself. */
const runsTiles: Readonly<Record<BackendName, boolean>> = { reference: false, sim: true, webgpu: true };

/**
 * Origin of an output element, as notes for a diagnostic: the index values, the tile and task, and the
 * statement that wrote the element.
 */
export interface Origin {
  /** Notes on the index values, then, if the backend ran the tiles, on tile, task and statement. */
  readonly notes: readonly string[];
  readonly span?: Span | undefined;
}

/**
 * Returns the index values that select an output element and, if the backend runs the tile program, the task
 * and the statement. Undefined for a scatter, and if the program does not write the element. `element`:
 * 0-based index of the element in the output, in row-major order.
 */
export function originOf({ tile, target, inputs, backend }: RunInputs, element: number): Origin | undefined {
  const point = coordinates(element, outputOf(tile).type.shape);
  const iteration = iterationWriting(tile, point);
  if (iteration === undefined) return undefined;
  const { gather, env, dims } = iteration;
  const mapped = { map: gather.map, operands: tile.operands, tile, inputs };
  const values = resolvedIndices(mapped, point).flatMap(({ at: { read }, value }) => {
    if (read === undefined) return [];
    const at = formatShape(coordinates(read.position, read.table.type.shape));
    return [`${read.table.key}${at} = ${value}`];
  });
  const read = values.length === 0 ? [] : [values.join(", ")];
  if (typeof backend !== "string" || !runsTiles[backend]) return { notes: read };
  const corner = formatShape(point.map((coord, d) => coord - (dims[d] ?? 0)));
  const where = [...env].map(([name, value]) => `%${name} = ${value}`).join(", ");
  return {
    notes: [
      ...read,
      `produced by tile ${corner} of ${taskAt(tile, target, env)}`,
      `written by ${printStmtHead(gather)}${where === "" ? "" : ` at ${where}`}`,
    ],
    span: gather.span,
  };
}

/**
 * Returns text that names the task and the core of one iteration: `task 3 on core 3`, or on WebGPU `task 3`.
 * `env`: values of the loop variables.
 */
function taskAt(tile: TileFunc, target: Target, env: Env): string {
  const loops = taskOfTile(tile).nest.loops.map(({ stmt }) => stmt);
  let task = 0;
  for (const at of iterations(loops)) {
    if (loops.every(({ iv }) => at.get(iv) === env.get(iv))) break;
    task++;
  }
  if (targetFacts[target.kind].runsOnWebgpu) return `task ${task}`;
  const { tasks, cores } = cyclesOf(tile, target);
  let core = 0;
  while (blockPartition(tasks, cores, core).to <= task && core < cores - 1) core++;
  return `task ${task} on core ${core}`;
}
