/** Which gathers of a model have programs of their own, once those that fold into others are left out. */
import {
  placementOf,
  type OnnxNode,
  type OnnxUse,
  type Placed,
  type PlacedProgram,
} from "../formats/onnx/index.js";
import type { ListedGather } from "./list-model.js";

/** A gather's program: folded where that compiles, or alone. */
export interface Chosen {
  readonly listed: ListedGather;
  /** Why the folded one was not taken. */
  readonly refused?: ListedGather;
}

export interface PlacedPrograms {
  /** One for each gather. */
  readonly chosen: ReadonlyMap<OnnxNode, Chosen>;
  /** Of those that compile. */
  readonly programs: readonly PlacedProgram[];
  readonly placed: ReadonlyMap<OnnxNode, Placed>;
}

/** `uses`: every node of the model, in order. `listed`: its gathers, a folded one behind the gather alone. */
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

/** Whether a gather is not folded into another: its program is needed, or it has none. */
export const isSeparateProgram = (
  { listed: { kernel, node } }: Chosen,
  placed: PlacedPrograms["placed"],
): boolean => kernel === undefined || placed.get(node)?.into.includes(node) === true;
