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
 * Program chosen for a gather: the gather with neighbouring nodes folded into it, if that compiles, otherwise
 * the gather alone.
 */
export interface Chosen {
  readonly listed: ListedGather;
  /** Folded program that was not taken, with the diagnostics that say why. */
  readonly refused?: ListedGather;
}

/** Programs chosen for the gathers of a model, and the program that computes each node. */
export interface PlacedPrograms {
  /** One for each gather. */
  readonly chosen: ReadonlyMap<OnnxNode, Chosen>;
  /** Programs of the gathers that compile, each with its nodes. */
  readonly programs: readonly PlacedProgram[];
  readonly placed: ReadonlyMap<OnnxNode, Placed>;
}

/**
 * Chooses a program for each gather of a model and places the programs among the model's nodes. `uses` lists
 * every node of the model, in order. `listed` lists the gathers; a folded gather follows the same gather
 * without folding.
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

/** True if a gather is not folded into another one: its program is needed, or it has no program. */
export const isSeparateProgram = (
  { listed: { kernel, node } }: Chosen,
  placed: PlacedPrograms["placed"],
): boolean => kernel === undefined || placed.get(node)?.into.includes(node) === true;
