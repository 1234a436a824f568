/** Who reads what each node of a model makes. */
import type { Left } from "./infer.js";
import type { OnnxNode } from "./model.js";
import type { TrackedValue } from "./value.js";

/** A node and the readers of its outputs. */
export interface OnnxUse {
  /** A symbol of the text form, unique in the model; of a gather, that of its program. */
  readonly name: string;
  readonly node: OnnxNode;
  /** Nodes that read any of its outputs, those in the bodies of others too. */
  readonly readers: readonly OnnxNode[];
  /** Whether a graph, a body or a function returns one of its outputs. */
  readonly returned: boolean;
}

/** Told of a model as it is walked. */
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

  /** In the order of the model: a body's nodes stand behind the node that holds them. */
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
