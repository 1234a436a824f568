/**
 * Gathers with the views, gathers and arithmetic around them, as one access map: a read of what a node makes becomes a read of what
 * that one reads, and its value takes the place of the read.
 */
import { isOfTerm, mapForms, readData, termDim } from "../../../ir/access.js";
import {
  accessMap,
  at,
  dim,
  effectiveType,
  equalLinear,
  hint,
  isMove,
  isRead,
  maxRank,
  operandsOf,
  reductionsIn,
  resolveSource,
  roles,
  site,
  substitute,
  typeOf,
  UniqueNames,
  verifyStructure,
  type AccessFunc,
  type AccessMap,
  type Diagnostic,
  type DType,
  type Expression,
  type Linear,
  type Read,
  type Shape,
  type Site,
  type TensorType,
} from "../../../ir/index.js";
import { faultsOf } from "../../../ir/faults.js";
import type { ProgramDescription } from "../../api/program.js";
import { dtypeOf } from "./data-type.js";
import { readsIn } from "../../../ir/values/expression.js";
import { elementwiseOf, isElementwise } from "./elementwise.js";
import { quoted } from "./fail.js";
import type { Left } from "./infer.js";
import { labelOf } from "./label-of.js";
import type { OnnxGraph, OnnxModel, OnnxNode } from "./model.js";
import { isReduction, reductionOf } from "./reductions.js";
import { isStatic, showDims, tensorValue, type TrackedValue } from "./value.js";
import { viewNamed } from "./views.js";

/** A tensor of the model that a chain reads. */
interface Source {
  readonly name: string;
  readonly value: TrackedValue;
  readonly type: TensorType;
}

/** A tensor of the model as a map over others. */
interface Chain {
  readonly map: AccessMap;
  readonly shape: Shape;
  readonly dtype: DType;
  /** The map's inputs. */
  readonly sources: readonly Source[];
  readonly nodes: readonly OnnxNode[];
  /** The last gather among them. */
  readonly gather?: OnnxNode;
}

/** A gather and what stands around it, in one access program. */
export interface Folded {
  readonly func: AccessFunc;
  /** What it does at once, in the order of the model. */
  readonly nodes: readonly OnnxNode[];
  /** The tensors of its inputs, in their order. */
  readonly sources: readonly { readonly name: string; readonly value: TrackedValue }[];
  /** TC910 where it sums floats, whose order ONNX leaves open. */
  readonly hints: readonly Diagnostic[];
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

/** Follows chains through a model as it is walked. */
export class ChainFolder {
  readonly #chains = new WeakMap<TrackedValue, Chain>();
  readonly #breaks = new WeakMap<TrackedValue, string>();
  readonly #ends = new Map<OnnxNode, Chain>();
  readonly #kept = new Map<OnnxNode, string[]>();
  readonly #uses = new Map<string, number>();

  constructor({ graph, functions }: OnnxModel) {
    for (const own of [graph, ...functions.map((entry) => entry.graph)]) countUses(own, this.#uses);
  }

  /** Called behind each node; `program` is that of a gather of static shape. A node that cannot be followed is a tensor as it stands. */
  leave(left: Left, program: ProgramDescription | undefined): void {
    try {
      this.#follow(left, program);
    } catch (thrown) {
      const [{ message } = { message: "" }] = faultsOf(thrown);
      const { node, inputs, outputs } = left;
      const why = `${labelOf(node)} is not folded: ${message}`;
      const chains = inputs.flatMap((value) => (value === undefined ? [] : (this.#chains.get(value) ?? [])));
      const gathers = program === undefined ? chains.flatMap(({ gather }) => gather ?? []) : [node];
      for (const gather of new Set(gathers)) this.#keep(gather, why);
      for (const value of outputs) if (value !== undefined) this.#breaks.set(value, why);
    }
  }

  #follow(left: Left, program: ProgramDescription | undefined): void {
    const { node, outputs } = left;
    const [y] = outputs;
    if (y === undefined) return;
    if (program !== undefined) this.#leaveGather(left, y, program);
    else if (node.domain === "" && viewNamed(node.op) !== undefined) this.#leaveView(left, y);
    else if (node.domain === "" && (isElementwise(node.op) || isReduction(node.op)))
      this.#leaveArithmetic(left, y);
  }

  /** Arithmetic on what a gather made, or on what one reads. */
  #leaveArithmetic({ node, inputs, opset }: Left, y: TrackedValue): void {
    const chains = inputs.map((value, k) =>
      value === undefined ? undefined : this.#chainOf(node.inputs[k] ?? "", value),
    );
    const gathered = chains.flatMap((chain) =>
      chain?.gather !== undefined && this.#ends.get(chain.gather) === chain ? [chain] : [],
    );
    const ends = gathered.flatMap(({ gather }) => gather ?? []);
    // A table is dequantized element by element as it is gathered; other arithmetic on a whole table stays one.
    if (gathered.length === 0 && node.op !== "DequantizeLinear") return;
    const keep = (why: string): void => {
      for (const gather of new Set(ends)) this.#keep(gather, `${labelOf(node)} is not folded: ${why}`);
    };
    const { dims } = y;
    const missing = inputs.some((value, k) => value !== undefined && chains[k] === undefined);
    if (missing || opset === undefined || dims === undefined || !isStatic(dims) || dims.length > maxRank) {
      keep("the shape or element type of an operand is not known");
      return;
    }
    const computed = isReduction(node.op)
      ? reductionOf({ node, inputs, opset }, chains)
      : elementwiseOf({ node, inputs, opset }, chains, dims);
    if ("why" in computed) {
      keep(computed.why);
      return;
    }
    const taken = computed.reads.flatMap(({ input }) => chains[input] ?? []);
    const { reduced } = computed;
    const summed = readsIn(computed.value).filter((k) => taken[k]?.map.reduced !== undefined).length;
    if (summed + (reduced === undefined ? 0 : 1) > 1) {
      keep("a program has one reduction");
      return;
    }
    const map: AccessMap = {
      outRank: dims.length,
      ...(reduced === undefined ? {} : { reduced }),
      sites: [],
      reads: computed.reads.map(({ at: coords }, table) => ({ table, at: coords })),
      value: computed.value,
    };
    const chain = chained(node, map, dims, taken, ends[0]);
    if (chain === undefined) return;
    this.#chains.set(y, chain);
    const shared = node.inputs.find(
      (name, k) => chains[k]?.gather !== undefined && this.#uses.get(name) !== 1,
    );
    if (shared !== undefined) keep(`${quoted(shared)} is read by others too`);
    else if (ends[0] !== undefined) this.#ends.set(ends[0], chain);
  }

  #leaveView({ node, inputs, opset }: Left, y: TrackedValue): void {
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
    const map = { outRank: dims.length, sites: [], ...readData(coords) };
    const chain = chained(node, map, dims, [from], from.gather);
    if (chain === undefined) return;
    this.#chains.set(y, chain);
    if (last !== undefined) this.#ends.set(last, chain);
  }

  #leaveGather({ node, inputs }: Left, y: TrackedValue, description: ProgramDescription): void {
    const { op, attrs, data, indices, others = [] } = description;
    const types = [data, indices, ...others];
    const result = resolveSource({ op, attrs, inputs: types });
    if (!result.ok) return;
    const { operator, negative, oob, output } = result.resolved;
    const chains = types.flatMap((type, k) => {
      const [name, value] = [node.inputs[k] ?? "", inputs[k]];
      const why = value === undefined ? undefined : this.#breaks.get(value);
      if (why !== undefined) this.#keep(node, why);
      if (value === undefined) return [];
      const own = effectiveType(operator, type, k);
      // Bytes that hold packed elements are a tensor of the model as it stands, or none that is followed.
      if (own.dtype === type.dtype) return this.#chainOf(name, value) ?? [];
      const bytes = alone(name, value);
      return bytes === undefined || this.#chains.has(value) ? [] : [chainOn({ name, value, type: own })];
    });
    if (chains.length < types.length) return;
    const chain = chained(node, accessMap(operator, negative, oob), output, chains, node);
    if (chain === undefined) return;
    this.#chains.set(y, chain);
    this.#ends.set(node, chain);
  }

  #keep(gather: OnnxNode, why: string): void {
    this.#kept.set(gather, [...(this.#kept.get(gather) ?? []), why]);
  }

  /** A tensor that is known needs no chain: it is one already made. */
  #chainOf(name: string, value: TrackedValue): Chain | undefined {
    const known = value.constant !== undefined || tensorValue(value) !== undefined;
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
    const { nodes } = chain;
    return { folded: { func, nodes, sources: chain.sources, hints: hintsOf(chain) }, kept };
  }
}

/** What ONNX leaves open and the program does not: the order in which floats are summed. */
function hintsOf({ map, nodes, sources }: Chain): readonly Diagnostic[] {
  const [sum] = reductionsIn(map.value);
  const types = map.reads.map(({ table }) => at(sources, table).type.dtype);
  if (sum === undefined || typeOf(sum, types) !== "f32" || (sum.how !== "fold" && sum.how !== "mean"))
    return [];
  const node = nodes.find(({ op }) => isReduction(op));
  const terms = `${map.reduced?.most ?? 0} terms${node === undefined ? "" : ` of ${labelOf(node)}`}`;
  const message = `the order in which the ${terms} are added is left open by ONNX; it is taken as fold: ascending, each step rounded`;
  return [
    hint("TC910", message, {
      hint: "bits are the same for every tile here; other runtimes may round otherwise",
    }),
  ];
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
function alone(name: string, value: TrackedValue): Chain | undefined {
  const { dims, dataType: code = 0 } = value;
  const dtype = dtypeOf(code);
  if (dims === undefined || !isStatic(dims) || dtype === undefined || value.problem !== undefined)
    return undefined;
  return chainOn({ name, value, type: { dtype, shape: dims } });
}

/** The chain of a tensor itself. */
function chainOn(source: Source): Chain {
  const { shape, dtype } = source.type;
  const map = { outRank: shape.length, sites: [], ...readData(shape.map((_, k) => dim(k))) };
  return { map, shape, dtype, sources: [source], nodes: [] };
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
  if (folded === undefined || nodes.length > mostNodes || folded.map.sites.length > mostSites)
    return undefined;
  const types = folded.map.reads.map(({ table }) => at(folded.sources, table).type.dtype);
  const dtype = typeOf(folded.map.value, types);
  return { ...folded, shape, dtype, nodes, ...(gather === undefined ? {} : { gather }) };
}

/** The map over what its inputs are read from, in the place of its inputs. Undefined where an index value would be computed. */
function composed(outer: AccessMap, chains: readonly Chain[]): Pick<Chain, "map" | "sources"> | undefined {
  const [first] = outer.reads;
  const sources: Source[] = chains
    .slice(first?.table ?? 0)
    .slice(0, 1)
    .flatMap((chain) => chain.sources.slice(0, 1));
  const sites: Site[] = [];
  const reads: Read[] = [];
  /** The data stays input 0; what is read by indices is one input, however often it is read. */
  const numberOf = (source: Source, isValue: boolean): number => {
    const known = sources.findIndex(
      (other, k) =>
        (isValue || k > 0) && other.value === source.value && other.type.dtype === source.type.dtype,
    );
    return known === -1 ? sources.push(source) - 1 : known;
  };
  /** Index values that are one: the same element under the same policy. */
  const push = (own: Site): number => {
    const known = sites.findIndex((other) => sameSite(other, own));
    return known === -1 ? sites.push(own) - 1 : known;
  };
  const placed: number[] = [];
  const renamed = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "site" ? site(at(placed, of.site)) : undefined));

  /** Where the elements lie in their sources that a chain's tensor at `coords` is made from. */
  const readThrough = ({ map, sources: own }: Chain, coords: readonly Linear[], isValue: boolean): Read[] => {
    const inner: number[] = [];
    const put = (form: Linear): Linear =>
      substitute(form, (of) => {
        if (of.kind === "dim") return of.dim === termDim(map) ? dim(termDim(outer)) : at(coords, of.dim);
        return of.kind === "site" ? site(at(inner, of.site)) : undefined;
      });
    for (const entry of map.sites) {
      const { value } = entry;
      const read = isRead(value)
        ? { table: numberOf(at(own, value.table), false), at: value.at.map(put) }
        : put(value);
      inner.push(push({ ...entry, value: read }));
    }
    return map.reads.map(({ table, at: list }) => ({
      table: numberOf(at(own, table), isValue),
      at: list.map(put),
    }));
  };

  for (const entry of outer.sites) {
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
    const own = readThrough(chain, coords.map(renamed), true).map((read) => {
      const known = reads.findIndex((other) => sameRead(other, read));
      return known === -1 ? reads.push(read) - 1 : known;
    });
    return withReads(chain.map.value, (k) => ({ kind: "read", read: at(own, k) }));
  });
  const value = withReads(outer.value, (k) => at(values, k));
  const reduced = outer.reduced ?? chains.find((chain) => chain.map.reduced !== undefined)?.map.reduced;
  const map = { outRank: outer.outRank, sites, reads, value };
  return { map: reduced === undefined ? map : termsLast({ ...map, reduced }), sources };
}

/** The map with the index values of terms behind those of the element, as they are evaluated. */
function termsLast(map: AccessMap): AccessMap {
  const numbers = map.sites.map((_, s) => s);
  const order = [...numbers.filter((s) => !isOfTerm(map, s)), ...numbers.filter((s) => isOfTerm(map, s))];
  const moved = mapForms(map, (form) =>
    substitute(form, (of) => (of.kind === "site" ? site(order.indexOf(of.site)) : undefined)),
  );
  return { ...moved, sites: order.map((s) => at(moved.sites, s)) };
}

const sameRead = (a: Read, b: Read): boolean =>
  a.table === b.table &&
  a.at.length === b.at.length &&
  a.at.every((form, k) => equalLinear(form, at(b.at, k)));

function sameSite({ value: a, ...policy }: Site, { value: b, ...other }: Site): boolean {
  if (JSON.stringify(policy) !== JSON.stringify(other)) return false;
  return isRead(a) ? isRead(b) && sameRead(a, b) : !isRead(b) && equalLinear(a, b);
}

/** An expression with others in the place of its reads. */
function withReads(value: Expression, of: (read: number) => Expression): Expression {
  switch (value.kind) {
    case "read":
      return of(value.read);
    case "number":
      return value;
    case "cast":
    case "reduce":
      return { ...value, of: withReads(value.of, of) };
    case "op":
      return { ...value, of: [withReads(value.of[0], of), withReads(value.of[1], of)] };
  }
}

function programOf({ map, shape, dtype, sources }: Chain, name: string): AccessFunc {
  const names = new UniqueNames();
  const output = { name: names.next("output"), type: { dtype, shape } };
  const inputs = sources.map(({ name: own, type }, k) => ({
    name: sources.length === 2 ? at(roles, k) : names.next(own),
    type,
  }));
  const operands = operandsOf([...inputs, output]);
  return { level: "access", name, operands, map, paired: [], schedule: {} };
}
