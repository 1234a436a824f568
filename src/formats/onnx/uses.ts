/** Readers of the outputs of each node of a model. */
import type { Left } from "./infer.js";
import type { OnnxNode } from "./model.js";
import type { TrackedValue } from "./value.js";

/** ONNX node of a model, with the nodes that read its outputs. */
export interface OnnxUse {
  /** Name in the text form, unique in the model. For a gather, the name of its program. */
  readonly name: string;
  readonly node: OnnxNode;
  /** Nodes that read an output of the node, including nodes in the bodies of other nodes. */
  readonly readers: readonly OnnxNode[];
  /** True if a graph, a body or a function returns one of the node's outputs. */
  readonly returned: boolean;
}

/**
 * Collector of the nodes that read the outputs of each node. The methods are to be called while the nodes of
 * a model are visited.
 */
export class Uses {
  readonly #nodes: OnnxNode[] = [];
  readonly #makers = new Map<TrackedValue, OnnxNode>();
  readonly #readers = new Map<OnnxNode, OnnxNode[]>();
  readonly #returned = new Set<OnnxNode>();

  visit(node: OnnxNode, inputs: Left["inputs"]): void {
    this.#nodes.push(node);
    for (const maker of this.#makersOf(inputs)) {
      const readers = this.#readers.get(maker);
      if (readers === undefined) this.#readers.set(maker, [node]);
      else readers.push(node);
    }
  }

  leave({ node, outputs }: Left): void {
    for (const value of outputs) if (value !== undefined) this.#makers.set(value, node);
  }

  returned(values: Left["outputs"]): void {
    for (const maker of this.#makersOf(values)) this.#returned.add(maker);
  }

  /**
   * Returns the nodes and their uses in the order of the model. The nodes of a body follow the node that
   * contains it.
   */
  list(nameOf: (node: OnnxNode) => string): readonly OnnxUse[] {
    return this.#nodes.map((node) => ({
      name: nameOf(node),
      node,
      readers: this.#readers.get(node) ?? [],
      returned: this.#returned.has(node),
    }));
  }

  #makersOf(values: readonly (TrackedValue | undefined)[]): ReadonlySet<OnnxNode> {
    return new Set(values.flatMap((value) => (value === undefined ? [] : (this.#makers.get(value) ?? []))));
  }
}
