/** Which programs a model still needs, once gathers are folded into others, and into which of them each node went. */
import { checkApiArgument } from "../../api/argument-kinds.js";
import type { OnnxNode } from "./model.js";
import type { OnnxUse } from "./uses.js";

/** A gather and the nodes that its program does at once, in the order of the model. */
export interface PlacedProgram {
  readonly gather: OnnxNode;
  /** The last one makes the output. */
  readonly nodes: readonly OnnxNode[];
}

/** Where a node of a program went. */
export interface Placed {
  /** Gathers of the programs that hold it and are needed. */
  readonly into: readonly OnnxNode[];
  /** Who else needs what it makes, so that it runs by itself as well: nodes, or a graph that returns it. */
  readonly needed: boolean;
}

/**
 * A program is needed unless everything that reads its output is done by needed programs that hold its gather too. `uses`: every node of the
 * model, in order. The map has the nodes of the programs; a gather whose program is not needed is not in its own `into`.
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
  /** Of a node behind this one, which has been placed: whether it runs without a program that does this one's work. */
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

function entry<K, V>(map: Map<K, V[]>, key: K): V[] {
  const list = map.get(key);
  if (list !== undefined) return list;
  const made: V[] = [];
  map.set(key, made);
  return made;
}
