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
 * Program chosen for one gather of a model: the gather merged with neighbouring nodes if the merged program
 * compiles, else the gather alone.
 */
export interface Chosen {
  readonly listed: ListedGather;
  /** Folded program that was not taken, with the diagnostics that say why. */
  readonly refused?: ListedGather;
}

/**
 * Programs chosen for the gathers of a model. `placed`: for each node in a program, the programs that compute
 * the node.
 */
export interface PlacedPrograms {
  /** Program chosen for each gather, by the gather's node. */
  readonly chosen: ReadonlyMap<OnnxNode, Chosen>;
  /** Programs of the gathers that compile, each with its nodes. */
  readonly programs: readonly PlacedProgram[];
  readonly placed: ReadonlyMap<OnnxNode, Placed>;
}

/**
 * Chooses a program for each gather of a model, and assigns the model's nodes to the programs. `listed`: each
 * gather alone and, where possible, merged with neighbouring nodes. `uses`: all nodes in model order.
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
 * True if a model's plan has a separate entry for a gather. False if the gather is computed only inside the
 * programs of the nodes that read the gather's output.
 */
export const isSeparateProgram = (
  { listed: { kernel, node } }: Chosen,
  placed: PlacedPrograms["placed"],
): boolean => kernel === undefined || placed.get(node)?.into.includes(node) === true;
