/**
 * Programs that a model still needs after gathers are folded into others, and the programs that each node was
 * folded into.
 */
import { checkApiArgument } from "../../api/argument-kinds.js";
import type { OnnxNode } from "./model.js";
import type { OnnxUse } from "./uses.js";

/** Program of a gather: the gather, and all nodes of the model that the program computes, in model order. */
export interface PlacedProgram {
  readonly gather: OnnxNode;
  /** The last node computes the output of the program. */
  readonly nodes: readonly OnnxNode[];
}

/**
 * Placement of one ONNX node: the gathers into whose needed programs the node is merged (`into`), and whether
 * the node must also run alone (`needed`). {@link placementOf} decides which programs are needed.
 */
export interface Placed {
  /** Gathers whose programs are needed and compute the node. */
  readonly into: readonly OnnxNode[];
  /**
   * True if the node must also run alone: a graph returns its output, no node reads the output, or a node
   * needs the output as an input.
   */
  readonly needed: boolean;
}

/**
 * Returns the placement of each node that a merged program computes. A program is needed if a graph returns
 * its output, if no node reads the output, or if a node needs the output as an input. A node needs the output
 * as an input if it runs alone, or in a needed program that does not compute the output. `uses`: all nodes of
 * the model, in order.
 */
export function placementOf(
  programs: readonly PlacedProgram[],
  uses: readonly OnnxUse[],
): ReadonlyMap<OnnxNode, Placed> {
  checkApiArgument("placementOf", "programs", programs);
  checkApiArgument("placementOf", "uses", uses);
  const holders = new Map<OnnxNode, PlacedProgram[]>();
  const ends = new Map<OnnxNode, PlacedProgram[]>();
  for (const program of programs) {
    for (const node of program.nodes) entry(holders, node).push(program);
    const last = program.nodes.at(-1);
    if (last !== undefined) entry(ends, last).push(program);
  }
  const kept = new Set<PlacedProgram>();
  const placed = new Map<OnnxNode, Placed>();
  /**
   * True if `reader` also runs in a program without `node`, or by itself. The reader follows the node in the
   * model and has been placed.
   */
  const needs = (reader: OnnxNode, node: OnnxNode): boolean => {
    const programs = (holders.get(reader) ?? []).filter((program) => kept.has(program));
    if (programs.length === 0 || programs.some(({ nodes }) => !nodes.includes(node))) return true;
    const makes = (ends.get(reader) ?? []).some((program) => kept.has(program));
    return !makes && placed.get(reader)?.needed === true;
  };
  // Readers come behind what they read.
  for (const { node, readers, returned } of uses.toReversed()) {
    const needed = returned || readers.length === 0 || readers.some((reader) => needs(reader, node));
    if (needed) for (const program of ends.get(node) ?? []) kept.add(program);
    const into = (holders.get(node) ?? []).flatMap((program) => (kept.has(program) ? program.gather : []));
    if (holders.has(node)) placed.set(node, { into, needed });
  }
  return placed;
}

/** Returns the list that a map has for a key. If the key is absent, inserts and returns an empty list. */
function entry<K, V>(map: Map<K, V[]>, key: K): V[] {
  const list = map.get(key);
  if (list !== undefined) return list;
  const made: V[] = [];
  map.set(key, made);
  return made;
}
