/**
 * Choice of the gathers of a model that have programs of their own, after those that fold into others are
 * left out.
 */
import {
  placementOf,
  type OnnxNode,
  type OnnxUse,
  type Placed,
  type PlacedProgram,
} from "../formats/onnx/index.js";
import type { ListedGather } from "./list-model.js";

/**
 * Program chosen for one gather of a model. It is the gather merged with neighbouring nodes if the merged
 * program compiles, otherwise the gather alone.
 */
export interface Chosen {
  readonly listed: ListedGather;
  /** Folded program that was not taken, with the diagnostics that say why. */
  readonly refused?: ListedGather;
}

/**
 * Programs chosen for the gathers of a model. `placed` maps each node of a program to the needed programs
 * that compute the node.
 */
export interface PlacedPrograms {
  /** One for each gather. */
  readonly chosen: ReadonlyMap<OnnxNode, Chosen>;
  /** Programs of the gathers that compile, each with its nodes. */
  readonly programs: readonly PlacedProgram[];
  readonly placed: ReadonlyMap<OnnxNode, Placed>;
}

/**
 * Chooses a program for each gather of a model and assigns the model's nodes to the programs. `uses` lists
 * every node in model order. `listed` may contain a gather twice: first alone, then merged with neighbouring
 * nodes.
 */
export function placePrograms(uses: readonly OnnxUse[], listed: readonly ListedGather[]): PlacedPrograms {
  const chosen = new Map<OnnxNode, Chosen>();
  for (const gather of listed) {
    const alone = chosen.get(gather.node);
    if (alone === undefined || gather.verdict === "legal") chosen.set(gather.node, { listed: gather });
    else chosen.set(gather.node, { ...alone, refused: gather });
  }
  const programs = [...chosen].flatMap(([gather, { listed: uses }]) =>
    uses.kernel === undefined ? [] : [{ gather, nodes: uses.nodes ?? [gather] }],
  );
  return { chosen, programs, placed: placementOf(programs, uses) };
}

/**
 * True if a gather has its own entry in the plan: it has no program, or its program must run. A program need
 * not run if all readers of its output are computed by other programs that also contain the gather.
 */
export const isSeparateProgram = (
  { listed: { kernel, node } }: Chosen,
  placed: PlacedPrograms["placed"],
): boolean => kernel === undefined || placed.get(node)?.into.includes(node) === true;
