/**
 * Tensors of a model as maps over others: what views, gathers and arithmetic come to when one is read through
 * the next.
 */
import { gatherOver, isScatter, readData, sameRead, reductionDim } from "../../../ir/access.js";
import { canonicalMap } from "../../../ir/canonical-map.js";
import {
  defined,
  at,
  dim,
  equalLinear,
  isMove,
  isRead,
  operandsOf,
  roles,
  index,
  substitute,
  typeOf,
  UniqueNames,
  type AccessFunc,
  type AccessMap,
  type DType,
  type Expression,
  type Linear,
  type Read,
  type Shape,
  type IndexOperand,
  type TensorType,
} from "../../../ir/index.js";
import { withReads } from "../../../ir/values/expression.js";
import { dtypeOf } from "./data-type.js";
import type { OnnxNode } from "./model.js";
import { isStatic, type TrackedValue } from "./value.js";

/**
 * Tensor of an ONNX model that a {@link Chain} reads: its name, its inferred facts (`value`), and its type.
 */
export interface ChainSource {
  readonly name: string;
  readonly value: TrackedValue;
  readonly type: TensorType;
}

/**
 * Chain of ONNX nodes combined into one access map, which computes one tensor of the model from other tensors
 * (the sources).
 */
export interface Chain {
  readonly map: AccessMap;
  readonly shape: Shape;
  readonly dtype: DType;
  /** Tensors that the access map reads. */
  readonly sources: readonly ChainSource[];
  readonly nodes: readonly OnnxNode[];
  /** Last gather among `nodes`; absent if there is none. */
  readonly gather?: OnnxNode;
}

/** Index operands and nodes of one chain: gathers of gathers of one tensor double them at each step. */
const maxIndices = 16;
const maxNodes = 64;

/**
 * Returns a {@link Chain} that has no nodes and only reads a tensor of the model. Returns undefined if the
 * tensor's shape or element type is unknown, or if tilec cannot read the tensor.
 */
export function alone(name: string, value: TrackedValue): Chain | undefined {
  const { dims, dataType: code = 0 } = value;
  const dtype = dtypeOf(code);
  if (dims === undefined || !isStatic(dims) || dtype === undefined || value.problem !== undefined)
    return undefined;
  return chainOn({ name, value, type: { dtype, shape: dims } });
}

/** Returns a {@link Chain} that has no nodes and only copies the tensor `source`. */
export function chainOn(source: ChainSource): Chain {
  const { shape, dtype } = source.type;
  const map = gatherOver(shape, 1, { indices: [], ...readData(shape.map((_, k) => dim(k))) });
  return { map, shape, dtype, sources: [source], nodes: [] };
}

/**
 * Returns the {@link Chain} that computes the output of `node` from the `chains` of its inputs. Returns
 * undefined if the chain exceeds `maxNodes` nodes or `maxIndices` index operands, or if an index value would
 * need arithmetic on elements.
 */
export function chained(
  node: OnnxNode,
  map: AccessMap,
  shape: Shape,
  chains: readonly Chain[],
  gather: OnnxNode | undefined,
): Chain | undefined {
  const nodes = [...new Set([...chains.flatMap((chain) => chain.nodes), node])];
  const folded = composed(map, chains);
  if (folded === undefined || nodes.length > maxNodes || folded.map.indices.length > maxIndices)
    return undefined;
  const types = folded.map.reads.map(({ table }) => at(folded.sources, table).type.dtype);
  const dtype = typeOf(folded.map.value, types);
  return { ...folded, shape, dtype, nodes, ...defined({ gather }) };
}

/**
 * Substitutes the access maps of `chains` into the map `outer`; returns the combined map and the tensors that
 * the map reads. Returns undefined if an index value would be the result of arithmetic on elements.
 */
function composed(outer: AccessMap, chains: readonly Chain[]): Pick<Chain, "map" | "sources"> | undefined {
  const inputs = new ComposedInputs(outer, chains);
  const placed: number[] = [];
  const renamed = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "index" ? index(at(placed, of.index)) : undefined));
  for (const entry of outer.indices) {
    const { value } = entry;
    if (!isRead(value)) {
      placed.push(inputs.indexNumber({ ...entry, value: renamed(value) }));
      continue;
    }
    const chain = at(chains, value.table);
    if (!isMove(chain.map)) return undefined;
    const [read] = inputs.readThrough(chain, value.at.map(renamed), false);
    if (read === undefined) return undefined;
    placed.push(inputs.indexNumber({ ...entry, value: read }));
  }
  const reads: Read[] = [];
  /** Values of the chains that the outer map reads, one for each read. */
  const values = outer.reads.map(({ table, at: coords }): Expression => {
    const chain = at(chains, table);
    const added = inputs
      .readThrough(chain, coords.map(renamed), true)
      .map((read) => numberIn(reads, read, sameRead));
    return withReads(chain.map.value, (k) => ({ kind: "read", read: at(added, k) }));
  });
  const value = withReads(outer.value, (k) => at(values, k));
  const reduced = outer.reduced ?? chains.find((chain) => chain.map.reduced !== undefined)?.map.reduced;
  const { sources, indices } = inputs;
  const body = { ...defined({ reduced }), indices, reads, value };
  const map = isScatter(outer)
    ? {
        domain: outer.domain,
        ...body,
        write: { ...outer.write, table: sources.length, at: outer.write.at.map(renamed) },
      }
    : gatherOver(outer.domain, sources.length, body);
  return { map: canonicalMap(map), sources };
}

/** Sources and index operands of a composed map, each listed once. */
class ComposedInputs {
  /** The source of the data, or of the base of a scatter, is the first. */
  readonly sources: ChainSource[];
  readonly indices: IndexOperand[] = [];

  constructor(
    private readonly outer: AccessMap,
    chains: readonly Chain[],
  ) {
    const first = isScatter(outer) ? 0 : (outer.reads[0]?.table ?? 0);
    this.sources = chains[first]?.sources.slice(0, 1) ?? [];
  }

  /** Returns the number of an index operand, which is added if it is new. */
  indexNumber(operand: IndexOperand): number {
    return numberIn(this.indices, operand, sameIndex);
  }

  /**
   * Returns the reads of source tensors that make the element of a chain's tensor at `coords`. `isValue`:
   * true if the element is a value, false if it is an index value.
   */
  readThrough({ map, sources }: Chain, coords: readonly Linear[], isValue: boolean): Read[] {
    const inner: number[] = [];
    const put = (form: Linear): Linear =>
      substitute(form, (of) => {
        if (of.kind === "dim")
          return of.dim === reductionDim(map) ? dim(reductionDim(this.outer)) : at(coords, of.dim);
        return of.kind === "index" ? index(at(inner, of.index)) : undefined;
      });
    for (const entry of map.indices) {
      const { value } = entry;
      const read = isRead(value)
        ? { table: this.sourceNumber(at(sources, value.table), false), at: value.at.map(put) }
        : put(value);
      inner.push(this.indexNumber({ ...entry, value: read }));
    }
    return map.reads.map(({ table, at: list }) => ({
      table: this.sourceNumber(at(sources, table), isValue),
      at: list.map(put),
    }));
  }

  /**
   * Returns the input number of a source, which is added if it is new. A source of index values is never the
   * data, which stays input 0.
   */
  private sourceNumber(source: ChainSource, isValue: boolean): number {
    return numberIn(
      this.sources,
      source,
      (other, _, k) =>
        (isValue || k > 0) && other.value === source.value && other.type.dtype === source.type.dtype,
    );
  }
}

/** Returns the position of an entry in a list, to which it is added if no entry is the same. */
function numberIn<T>(list: T[], entry: T, same: (other: T, entry: T, position: number) => boolean): number {
  const position = list.findIndex((other, k) => same(other, entry, k));
  return position === -1 ? list.push(entry) - 1 : position;
}

function sameIndex({ value: a, ...policy }: IndexOperand, { value: b, ...other }: IndexOperand): boolean {
  if (JSON.stringify(policy) !== JSON.stringify(other)) return false;
  return isRead(a) ? isRead(b) && sameRead(a, b) : !isRead(b) && equalLinear(a, b);
}

/**
 * Returns the access program that computes the tensor of a chain from the chain's sources. `name` is the name
 * of the program.
 */
export function programOf({ map, shape, dtype, sources }: Chain, name: string): AccessFunc {
  const names = new UniqueNames();
  const output = { name: names.next("output"), type: { dtype, shape } };
  const isGather = !isScatter(map);
  const inputs = sources.map(({ name: label, type }, k) => ({
    name: isGather && sources.length === 2 ? at(roles, k) : names.next(label),
    type,
  }));
  const operands = operandsOf([...inputs, output], isGather);
  return { level: "access", name, operands, map, sharedDims: [], schedule: {} };
}
