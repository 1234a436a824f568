/**
 * Tensors of a model as maps over others: what views, gathers and arithmetic come to when one is read through
 * the next.
 */
import { gatherOver, readData, sameRead, reductionDim } from "../../../ir/access.js";
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

/** Tensor of the model that a chain reads. */
export interface ChainSource {
  readonly name: string;
  readonly value: TrackedValue;
  readonly type: TensorType;
}

/**
 * Chain of ONNX nodes combined into one access map: it computes a tensor of the model from other tensors, its
 * sources.
 */
export interface Chain {
  readonly map: AccessMap;
  readonly shape: Shape;
  readonly dtype: DType;
  /** The map's inputs. */
  readonly sources: readonly ChainSource[];
  readonly nodes: readonly OnnxNode[];
  /** The last gather among them. */
  readonly gather?: OnnxNode;
}

/** Index operands and nodes of one chain: gathers of gathers of one tensor double them at each step. */
const maxIndices = 16;
const maxNodes = 64;

/**
 * Returns the chain that reads a tensor without any node; undefined if its shape or element type is not
 * known, or the tensor cannot be read.
 */
export function alone(name: string, value: TrackedValue): Chain | undefined {
  const { dims, dataType: code = 0 } = value;
  const dtype = dtypeOf(code);
  if (dims === undefined || !isStatic(dims) || dtype === undefined || value.problem !== undefined)
    return undefined;
  return chainOn({ name, value, type: { dtype, shape: dims } });
}

/** Returns the chain that copies its one source, without any node. */
export function chainOn(source: ChainSource): Chain {
  const { shape, dtype } = source.type;
  const map = gatherOver(shape, 1, { indices: [], ...readData(shape.map((_, k) => dim(k))) });
  return { map, shape, dtype, sources: [source], nodes: [] };
}

/**
 * Returns the chain that computes a node from the sources of `chains`, the chains of its inputs. Undefined if
 * the combined chain has too many nodes or index operands, or if an index would have to be computed.
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
 * Returns the map `outer` with each read of an input replaced by the map of its chain, and the sources of
 * that map. Undefined if an index value would have to be computed.
 */
function composed(outer: AccessMap, chains: readonly Chain[]): Pick<Chain, "map" | "sources"> | undefined {
  const [first] = outer.reads;
  const sources: ChainSource[] = chains
    .slice(first?.table ?? 0)
    .slice(0, 1)
    .flatMap((chain) => chain.sources.slice(0, 1));
  const indices: IndexOperand[] = [];
  const reads: Read[] = [];
  /**
   * Returns the input number of a source, which is added if it is new. The data stays input 0. A source read
   * by index operands is one input, however often it is read.
   */
  const numberOf = (source: ChainSource, isValue: boolean): number => {
    const position = sources.findIndex(
      (other, k) =>
        (isValue || k > 0) && other.value === source.value && other.type.dtype === source.type.dtype,
    );
    return position === -1 ? sources.push(source) - 1 : position;
  };
  /**
   * Returns the number of an index operand, which is added if it is new. Index operands with the same element
   * and the same policy are one.
   */
  const push = (operand: IndexOperand): number => {
    const position = indices.findIndex((other) => sameIndex(other, operand));
    return position === -1 ? indices.push(operand) - 1 : position;
  };
  const placed: number[] = [];
  const renamed = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "index" ? index(at(placed, of.index)) : undefined));

  /** Returns the reads of source tensors that make the element of a chain's tensor at `coords`. */
  const readThrough = (
    { map, sources: chained }: Chain,
    coords: readonly Linear[],
    isValue: boolean,
  ): Read[] => {
    const inner: number[] = [];
    const put = (form: Linear): Linear =>
      substitute(form, (of) => {
        if (of.kind === "dim")
          return of.dim === reductionDim(map) ? dim(reductionDim(outer)) : at(coords, of.dim);
        return of.kind === "index" ? index(at(inner, of.index)) : undefined;
      });
    for (const entry of map.indices) {
      const { value } = entry;
      const read = isRead(value)
        ? { table: numberOf(at(chained, value.table), false), at: value.at.map(put) }
        : put(value);
      inner.push(push({ ...entry, value: read }));
    }
    return map.reads.map(({ table, at: list }) => ({
      table: numberOf(at(chained, table), isValue),
      at: list.map(put),
    }));
  };

  for (const entry of outer.indices) {
    const { value } = entry;
    if (!isRead(value)) {
      placed.push(push({ ...entry, value: renamed(value) }));
      continue;
    }
    const chain = at(chains, value.table);
    if (!isMove(chain.map)) return undefined;
    const [read] = readThrough(chain, value.at.map(renamed), false);
    if (read === undefined) return undefined;
    placed.push(push({ ...entry, value: read }));
  }
  /** A read of the outer map, as the value of its chain. */
  const values = outer.reads.map(({ table, at: coords }): Expression => {
    const chain = at(chains, table);
    const added = readThrough(chain, coords.map(renamed), true).map((read) => {
      const position = reads.findIndex((other) => sameRead(other, read));
      return position === -1 ? reads.push(read) - 1 : position;
    });
    return withReads(chain.map.value, (k) => ({ kind: "read", read: at(added, k) }));
  });
  const value = withReads(outer.value, (k) => at(values, k));
  const reduced = outer.reduced ?? chains.find((chain) => chain.map.reduced !== undefined)?.map.reduced;
  const map = gatherOver(outer.domain, sources.length, { ...defined({ reduced }), indices, reads, value });
  return { map: canonicalMap(map), sources };
}

function sameIndex({ value: a, ...policy }: IndexOperand, { value: b, ...other }: IndexOperand): boolean {
  if (JSON.stringify(policy) !== JSON.stringify(other)) return false;
  return isRead(a) ? isRead(b) && sameRead(a, b) : !isRead(b) && equalLinear(a, b);
}

/**
 * Returns the access program that computes a chain. Its output is the chain's tensor and its inputs are the
 * chain's sources.
 */
export function programOf({ map, shape, dtype, sources }: Chain, name: string): AccessFunc {
  const names = new UniqueNames();
  const output = { name: names.next("output"), type: { dtype, shape } };
  const inputs = sources.map(({ name: label, type }, k) => ({
    name: sources.length === 2 ? at(roles, k) : names.next(label),
    type,
  }));
  const operands = operandsOf([...inputs, output]);
  return { level: "access", name, operands, map, sharedDims: [], schedule: {} };
}
