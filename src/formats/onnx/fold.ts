/**
 * Gathers with the views and gathers around them, as one access map: a read of what a view or a gather makes becomes a read
 * of what that one reads.
 */
import {
  accessMap,
  at,
  dim,
  isRead,
  maxRank,
  operandAt,
  resolveSource,
  roles,
  site,
  substitute,
  verifyStructure,
  type AccessFunc,
  type AccessMap,
  type Linear,
  type Shape,
  type Site,
  type TensorType,
} from "../../../ir/index.js";
import type { ProgramDescription } from "../../api/program.js";
import { Symbols } from "../symbols.js";
import { dtypeOf } from "./data-type.js";
import { quoted } from "./fail.js";
import type { Left } from "./infer.js";
import type { OnnxGraph, OnnxModel, OnnxNode } from "./model.js";
import { isStatic, showDims, tensorOf, type Value } from "./value.js";
import { viewNamed } from "./views.js";

/** A tensor of the model that a chain reads. */
interface Source {
  readonly name: string;
  readonly value: Value;
  readonly type: TensorType;
}

/** A tensor of the model as a map over others. */
interface Chain {
  readonly map: AccessMap;
  readonly shape: Shape;
  /** The map's inputs. */
  readonly sources: readonly Source[];
  readonly nodes: readonly OnnxNode[];
  /** The last gather among them. */
  readonly gather?: OnnxNode;
}

/** A gather and what stands around it, in one access program. */
export interface Folded {
  readonly func: AccessFunc;
  /** What it does at once, in the order of the model: `Transpose "t"`. */
  readonly nodes: readonly string[];
  /** The tensors of its inputs, in their order. */
  readonly sources: readonly { readonly name: string; readonly value: Value }[];
}

/** What folding came to at a gather. */
export interface Folding {
  readonly folded?: Folded;
  /** Views at its ends that it does not take in, and why. */
  readonly kept: readonly string[];
}

/** Sites and nodes of one chain: gathers of gathers of one tensor double them at each step. */
const mostSites = 16;
const mostNodes = 64;

/** `Transpose "t"`; one without a name has that of its output. */
export const labelOf = ({ op, name, outputs }: OnnxNode): string =>
  `${op} ${quoted(name === "" ? (outputs[0] ?? "") : name)}`;

/** Follows chains through a model as it is walked. */
export class Folder {
  readonly #chains = new WeakMap<Value, Chain>();
  readonly #breaks = new WeakMap<Value, string>();
  readonly #ends = new Map<OnnxNode, Chain>();
  readonly #kept = new Map<OnnxNode, string[]>();
  readonly #uses = new Map<string, number>();

  constructor({ graph, functions }: OnnxModel) {
    for (const own of [graph, ...functions.map((entry) => entry.graph)]) countUses(own, this.#uses);
  }

  /** Called behind each node; `program` is that of a gather of static shape. */
  leave(left: Left, program: ProgramDescription | undefined): void {
    const { node, outputs } = left;
    const [y] = outputs;
    if (y === undefined) return;
    if (program !== undefined) this.#leaveGather(left, y, program);
    else if (node.domain === "" && viewNamed(node.op) !== undefined) this.#leaveView(left, y);
  }

  #leaveView({ node, inputs, opset }: Left, y: Value): void {
    const [x] = inputs;
    const view = viewNamed(node.op);
    const from = x === undefined ? undefined : this.#chainOf(node.inputs[0] ?? "", x);
    if (view === undefined || opset === undefined || x === undefined || from === undefined) return;
    const { dims } = y;
    const end = from.gather !== undefined && this.#ends.get(from.gather) === from ? from.gather : undefined;
    const last = this.#uses.get(node.inputs[0] ?? "") === 1 ? end : undefined;
    const coords =
      dims === undefined || !isStatic(dims) || dims.length > maxRank
        ? undefined
        : view({ node, inputs, opset }, from.shape, dims);
    if (coords === undefined || dims === undefined || !isStatic(dims)) {
      const [was, is] = [x.dims ?? [], dims ?? []].map(showDims);
      const why = `${labelOf(node)} is not folded: from ${was ?? ""} to ${is ?? ""} its coordinates are not known`;
      this.#breaks.set(y, why);
      if (last !== undefined) this.#keep(last, why);
      return;
    }
    const map = { outRank: dims.length, sites: [], results: coords };
    const chain = chained(node, map, dims, [from], from.gather);
    if (chain === undefined) return;
    this.#chains.set(y, chain);
    if (last !== undefined) this.#ends.set(last, chain);
  }

  #leaveGather({ node, inputs }: Left, y: Value, { op, attrs, data, indices }: ProgramDescription): void {
    const result = resolveSource({ op, attrs, inputs: [data, indices] });
    if (!result.ok) return;
    const { operator, negative, oob, output } = result.resolved;
    const chains = [data, indices].flatMap((_, k) => {
      const [name, value] = [node.inputs[k] ?? "", inputs[k]];
      const why = value === undefined ? undefined : this.#breaks.get(value);
      if (why !== undefined) this.#keep(node, why);
      return value === undefined ? [] : (this.#chainOf(name, value) ?? []);
    });
    if (chains.length < 2) return;
    const chain = chained(node, accessMap(operator, negative, oob), output, chains, node);
    if (chain === undefined) return;
    this.#chains.set(y, chain);
    this.#ends.set(node, chain);
  }

  #keep(gather: OnnxNode, why: string): void {
    this.#kept.set(gather, [...(this.#kept.get(gather) ?? []), why]);
  }

  /** A tensor that is known needs no chain: it is one already made. */
  #chainOf(name: string, value: Value): Chain | undefined {
    const known = value.constant !== undefined || tensorOf(value) !== undefined;
    return (known ? undefined : this.#chains.get(value)) ?? alone(name, value);
  }

  /** What a gather came to, once the whole model is walked. Its program is called `name`. */
  foldingOf(gather: OnnxNode, name: string): Folding {
    const kept = this.#kept.get(gather) ?? [];
    const chain = this.#ends.get(gather);
    if (chain === undefined || chain.nodes.length < 2) return { kept };
    const func = programOf(chain, name);
    const [wrong] = verifyStructure(func);
    if (wrong !== undefined) return { kept: [...kept, `${labelOf(gather)} is not folded: ${wrong.message}`] };
    return { folded: { func, nodes: chain.nodes.map(labelOf), sources: chain.sources }, kept };
  }
}

/** How often each name is read, in nested graphs too. */
function countUses({ nodes, outputs }: OnnxGraph, uses: Map<string, number>): void {
  const count = (name: string): unknown => uses.set(name, (uses.get(name) ?? 0) + 1);
  for (const { name } of outputs) count(name);
  for (const { inputs, attributes } of nodes) {
    inputs.forEach(count);
    for (const attribute of attributes.values())
      if (attribute.kind === "graphs") for (const graph of attribute.graphs) countUses(graph, uses);
  }
}

/** A tensor as it stands; undefined where its shape or type is open. */
function alone(name: string, value: Value): Chain | undefined {
  const { dims, dataType: code = 0 } = value;
  const dtype = dtypeOf(code);
  if (dims === undefined || !isStatic(dims) || dtype === undefined || value.problem !== undefined)
    return undefined;
  const map = { outRank: dims.length, sites: [], results: dims.map((_, k) => dim(k)) };
  return { map, shape: dims, sources: [{ name, value, type: { dtype, shape: dims } }], nodes: [] };
}

/** The chain of a node whose own map is over the ends of `chains`; undefined for one that grows beyond bounds. */
function chained(
  node: OnnxNode,
  map: AccessMap,
  shape: Shape,
  chains: readonly Chain[],
  gather: OnnxNode | undefined,
): Chain | undefined {
  const nodes = [...new Set([...chains.flatMap((chain) => chain.nodes), node])];
  const folded = composed(map, chains);
  if (nodes.length > mostNodes || folded.map.sites.length > mostSites) return undefined;
  return { ...folded, shape, nodes, ...(gather === undefined ? {} : { gather }) };
}

/** The map over what its inputs are read from, in the place of its inputs. */
function composed(outer: AccessMap, chains: readonly Chain[]): Pick<Chain, "map" | "sources"> {
  const sources: Source[] = chains.slice(0, 1).flatMap((chain) => chain.sources.slice(0, 1));
  const sites: Site[] = [];
  /** The data stays input 0; what is read by indices is one input, however often it is read. */
  const numberOf = (source: Source, isData: boolean): number => {
    if (isData) return 0;
    const known = sources.findIndex((other, k) => k > 0 && other.value === source.value);
    return known === -1 ? sources.push(source) - 1 : known;
  };
  const push = (own: Site): number => sites.push(own) - 1;
  const placed: number[] = [];
  const renamed = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "site" ? site(at(placed, of.site)) : undefined));

  /** Where a chain's tensor at `coords` lies in its first source. */
  const readThrough = ({ map, sources: own }: Chain, coords: readonly Linear[]): readonly Linear[] => {
    const inner: number[] = [];
    const put = (form: Linear): Linear =>
      substitute(form, (of) => {
        if (of.kind === "dim") return at(coords, of.dim);
        return of.kind === "site" ? site(at(inner, of.site)) : undefined;
      });
    for (const entry of map.sites) {
      const { value } = entry;
      const read = isRead(value)
        ? { table: numberOf(at(own, value.table), false), at: value.at.map(put) }
        : put(value);
      inner.push(push({ ...entry, value: read }));
    }
    return map.results.map(put);
  };

  for (const entry of outer.sites) {
    const { value } = entry;
    if (!isRead(value)) {
      placed.push(push({ ...entry, value: renamed(value) }));
      continue;
    }
    const chain = at(chains, value.table);
    const coords = readThrough(chain, value.at.map(renamed));
    const table = numberOf(at(chain.sources, 0), false);
    placed.push(push({ ...entry, value: { table, at: coords } }));
  }
  const results = readThrough(at(chains, 0), outer.results.map(renamed));
  return { map: { outRank: outer.outRank, sites, results }, sources };
}

function programOf({ map, shape, sources }: Chain, name: string): AccessFunc {
  const symbols = new Symbols();
  const output = { name: symbols.next("output"), type: { dtype: at(sources, 0).type.dtype, shape } };
  const inputs = sources.map(({ name: own, type }, k) => {
    const called = sources.length === 2 ? at(roles, k) : symbols.next(own);
    return operandAt({ name: called, type }, k, sources.length);
  });
  const operands = [...inputs, { ...output, role: "output" as const }];
  return { level: "access", name, operands, map, paired: [], schedule: {} };
}
