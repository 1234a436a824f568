/**
 * Gathers with the views, gathers and arithmetic around them, as one access map: a read of what a node makes
 * becomes a read of what that one reads, and its value takes the place of the read. Where programs have
 * prices, a node is folded into another if both together take no more than each by itself.
 */
import { isScatter, type AccessMap } from "../../../ir/access.js";
import {
  defined,
  accessMap,
  at,
  effectiveType,
  hint,
  reductionsIn,
  resolveSource,
  typeOf,
  verifyStructure,
  type AccessFunc,
  type Diagnostic,
  type TensorType,
} from "../../../ir/index.js";
import { faultsOf } from "../../../ir/faults.js";
import type { ProgramDescription } from "../../api/program.js";
import { readsIn } from "../../../ir/values/expression.js";
import { once } from "../once.js";
import { alone, chained, chainOn, programOf, type Chain } from "./chain.js";
import { isElementwise } from "./elementwise.js";
import { quoted } from "./fail.js";
import { comparison, type FoldCycles } from "./fold-cycles.js";
import type { Left } from "./infer.js";
import { labelOf } from "./label-of.js";
import type { OnnxGraph, OnnxModel, OnnxNode } from "./model.js";
import { arithmeticMap, viewMap } from "./node-map.js";
import { isReduction } from "./reductions.js";
import { showDims, tensorValue, type TrackedValue } from "./value.js";
import { copiesElements, viewNamed } from "./views.js";

/**
 * Estimated cycles of a program as one kernel, launch included, or the reason why the target refuses the
 * program. Programs are compared by `weight`: the cycles, or 1 for every program under the fold policy
 * `always`.
 */
export type FoldPrice = { readonly cycles: number; readonly weight: number } | { readonly refused: string };

/** Access program into which a gather and the adjacent view operators, gathers and arithmetic are merged. */
export interface Folded {
  readonly func: AccessFunc;
  /** Nodes that the program combines, in the order of the model. */
  readonly nodes: readonly OnnxNode[];
  /** Tensors of the model that the program reads, in the order of its inputs. */
  readonly sources: readonly { readonly name: string; readonly value: TrackedValue }[];
  /**
   * Hint (TC910) if the program sums floats, because ONNX does not define the order of the additions; else
   * empty.
   */
  readonly hints: readonly Diagnostic[];
  /**
   * Estimated cycles with and without the merge. Absent if no costs are estimated, or if a node cannot be a
   * kernel of its own.
   */
  readonly cycles?: FoldCycles;
}

/**
 * Result of merging adjacent nodes into a gather: the merged program (`folded`, absent if no node is merged),
 * and the reasons why adjacent nodes are not merged.
 */
export interface Folding {
  readonly folded?: Folded;
  /** Reasons why adjacent nodes are not merged. */
  readonly kept: readonly string[];
  /** Cycles of a merge that was not made because separate kernels take fewer cycles. */
  readonly unfolded?: FoldCycles;
}

/** A tensor that a node makes, as maps over what it is made from. */
interface Made {
  /** As its own kernel makes it. */
  readonly best: Chain;
  /** Over everything that can be taken in, where that is another program that the target takes. */
  readonly fullChain?: Chain;
}

/** Reason why a gather does not take in a node. */
interface Kept {
  readonly why: string;
  /** The node, where it may be taken in with one that reads what it makes. */
  readonly node?: OnnxNode;
}

/**
 * An input of a node: the tensor as it stands, and the maps that the node can read through, the longest
 * first.
 */
interface Input {
  readonly value: TrackedValue;
  readonly plain: Chain;
  readonly through: readonly Chain[];
}

/**
 * Tensors made of a gather's end that others read too: a fold may go on behind them, and ends where nobody
 * else is left.
 */
interface Shared {
  readonly gathers: readonly OnnxNode[];
  /** Their names, from the end of the gather's program. */
  readonly names: readonly string[];
}

/** Result of folding at a node: the chains of its output, and the inputs that it takes in. */
interface Choice {
  readonly made: Made;
  /** The inputs that it takes in. */
  readonly taken: readonly Input[];
  /** Reason why not all inputs were taken in as far as possible. */
  readonly why?: string;
  /**
   * Cycles if all inputs are taken in, and cycles of the actual choice, with the kernels that make the
   * inputs.
   */
  readonly cycles?: FoldCycles;
}

/** Choice of an arithmetic node whose inputs gathers end in. */
interface ArithmeticChoice {
  /** Inputs of the node, in order. */
  readonly chains: readonly (Input | undefined)[];
  /** Inputs of the node's access map. */
  readonly read: readonly Input[];
  /** Gathers whose programs end with an input. */
  readonly ends: readonly OnnxNode[];
  readonly choice: Choice;
}

/** Class that decides which nodes of a model are merged into gathers, while the nodes are visited. */
export class ChainFolder {
  /**
   * Chains that compute the tensors of nodes. If only views compute a tensor, its chain is built when it is
   * first read.
   */
  readonly #made = new Map<TrackedValue, () => Made | undefined>();
  /** Tensors that are computed from a gather. */
  readonly #gathered = new WeakSet<TrackedValue>();
  readonly #breaks = new Map<TrackedValue, string>();
  /** End of the program of each gather: its chain, and the tensor that it makes. */
  readonly #ends = new Map<OnnxNode, { readonly chain: Chain; readonly value: TrackedValue }>();
  /** By what is made of them. */
  readonly #shared = new Map<TrackedValue, Shared>();
  readonly #kept = new Map<OnnxNode, Kept[]>();
  readonly #unfolded = new Map<OnnxNode, FoldCycles>();
  /** Nodes as kernels of their own. */
  readonly #separate = new Map<OnnxNode, () => Chain | undefined>();
  readonly #prices = new Map<Chain, FoldPrice>();
  readonly #sums = { cycles: new Map<Chain, number>(), weight: new Map<Chain, number>() };
  readonly #uses: Uses;
  readonly #priceOf: ((program: AccessFunc) => FoldPrice) | undefined;

  /**
   * `isCompiled`: true of the nodes that `leave` may have programs for. `isBase`: true if input `k` of such a
   * node is the base of a scatter. `priceOf`: of a program on the target; absent: everything is folded as
   * far as it goes.
   */
  constructor(
    { graph, functions }: OnnxModel,
    isCompiled: (node: OnnxNode) => boolean,
    isBase: (node: OnnxNode, k: number) => boolean,
    priceOf?: (program: AccessFunc) => FoldPrice,
  ) {
    this.#priceOf = priceOf;
    this.#uses = usesIn(
      [graph, ...functions.map((entry) => entry.graph)],
      (node, k) => (isCompiled(node) && !isBase(node, k)) || isFollowed(node),
    );
  }

  /**
   * Follows a node once its outputs are inferred. `program` is the program of a gather of static shape. If
   * the node cannot be followed, its output is treated as a plain tensor.
   */
  leave(left: Left, program: ProgramDescription | undefined): void {
    try {
      this.#follow(left, program);
    } catch (thrown) {
      const [{ message } = { message: "" }] = faultsOf(thrown);
      const { node, inputs, outputs } = left;
      const why = `${labelOf(node)} is not folded: ${message}`;
      const ended = [...this.#ends].filter(([, { value }]) => inputs.includes(value));
      const gathers = program === undefined ? ended.map(([gather]) => gather) : [node];
      for (const gather of gathers) this.#leave(gather, why);
      for (const value of outputs) if (value !== undefined) this.#breaks.set(value, why);
    }
  }

  #follow(left: Left, program: ProgramDescription | undefined): void {
    const { node, outputs } = left;
    const [y] = outputs;
    if (y === undefined) return;
    if (program !== undefined) this.#leaveGather(left, y, program);
    else if (isView(node)) this.#leaveView(left, y);
    else if (isFollowed(node)) this.#leaveArithmetic(left, y);
  }

  /** Folds arithmetic on the result of a gather, or on a tensor that a gather reads. */
  #leaveArithmetic(left: Left, y: TrackedValue): void {
    const { node, inputs } = left;
    // A table is dequantized element by element as it is gathered; other arithmetic on a whole table stays
    // one.
    const isTable = node.op === "DequantizeLinear";
    if (!isTable && !inputs.some((value) => value !== undefined && this.#gathered.has(value))) return;
    const chains = inputs.map((value, k) =>
      value === undefined ? undefined : this.#inputOf(node.inputs[k] ?? "", value),
    );
    const ends = chains.flatMap((input) => (input === undefined ? [] : this.#endedBy(input)));
    if (ends.length === 0 && !isTable) return;
    const arithmetic = arithmeticMap(
      left,
      y,
      chains.map((input) => input?.plain),
    );
    const why = `${labelOf(node)} is not folded: `;
    if (typeof arithmetic === "string") {
      this.#leaveAll(ends, `${why}${arithmetic}`);
      return;
    }
    const read = arithmetic.inputs.flatMap((k) => chains[k] ?? []);
    const choice = this.#chooseArithmetic(node, read, arithmetic.map);
    if (typeof choice === "string") this.#leaveAll(ends, `${why}${choice}`);
    else if (choice !== undefined) this.#goOn(left, y, { chains, read, ends, choice });
  }

  /** Returns the choice of an arithmetic node; undefined, or the reason, where there is none. */
  #chooseArithmetic(node: OnnxNode, read: readonly Input[], map: AccessMap): Choice | string | undefined {
    return this.#choose(node, read, (chains) => {
      const summed = readsIn(map.value).filter((k) => chains[k]?.map.reduced !== undefined).length;
      if (summed + (map.reduced === undefined ? 0 : 1) > 1) return "a program has one reduction";
      const [gather] = read.flatMap((input, k) => (chains[k] === input.plain ? [] : this.#endedBy(input)));
      return chained(node, map, map.domain, chains, gather);
    });
  }

  /**
   * Ends programs with what an arithmetic node makes, or lets them go on to it, as the node's choice says.
   */
  #goOn({ node, inputs }: Left, y: TrackedValue, of: ArithmeticChoice): void {
    const { chains, read, ends, choice } = of;
    const { made, taken } = choice;
    const ended = taken
      .flatMap((input) => this.#endedBy(input))
      .filter((gather) => made.best.nodes.includes(gather));
    this.#leaveUntaken(node, choice, ended, ends);
    const isTaken = ended.length > 0 || ends.length === 0;
    if (!isTaken && made.fullChain === undefined) return;
    const names = node.inputs.filter((_, k) => {
      const input = chains[k];
      return input?.through[0]?.gather !== undefined && (!isTaken || taken.includes(input));
    });
    const within = [...new Set([...this.#sharedBefore(isTaken ? taken : read), ...names])];
    const chain = isTaken ? made.best : (made.fullChain ?? made.best);
    const other = within.find((name) => this.#isReadWith(chain, name));
    // A node that takes less by itself may take less yet where what its inputs are made of ends behind it.
    if (!isTaken && other === undefined) return;
    this.#made.set(y, () => made);
    this.#mark(y, inputs);
    const gathers = isTaken ? ended : ends;
    if (other !== undefined) this.#share(y, { gathers, names: within }, node, isTaken ? other : undefined);
    else this.#endIn(y, ended, chain);
  }

  /**
   * Records why a node is not folded with all gathers that end in its inputs. `ended`: those that it is
   * folded with. `ends`: all.
   */
  #leaveUntaken(
    node: OnnxNode,
    { why, cycles }: Choice,
    ended: readonly OnnxNode[],
    ends: readonly OnnxNode[],
  ): void {
    if (why === undefined) return;
    const left = ends.filter((gather) => !ended.includes(gather));
    const label = labelOf(node);
    if (ended.length === 0) this.#leaveAll(left, `${label} is not folded: ${why}`, node);
    else if (left.length === 0) this.#leaveAll(ended, `${label} ${partlyFolded}: ${why}`);
    else this.#leaveAll(left, `${label} reads it as a tensor: ${why}`);
    if (cycles !== undefined) for (const gather of left) this.#unfolded.set(gather, cycles);
  }

  /** Returns the names of tensors that others read too, between the ends of gathers and some inputs. */
  #sharedBefore(inputs: readonly Input[]): readonly string[] {
    return inputs.flatMap(({ value }) => this.#shared.get(value)?.names ?? []);
  }

  /** True if a tensor is read by another node than those of a chain, or by the chain as it stands. */
  #isReadWith({ nodes, sources }: Chain, name: string): boolean {
    const reads = nodes.flatMap(({ inputs }) => inputs).filter((entry) => entry === name).length;
    return reads < (this.#uses.counts.get(name) ?? 0) || sources.some((source) => source.name === name);
  }

  /**
   * Records that programs may continue past tensor `y` but do not end there. `other`, if given, names a
   * tensor with other readers, which is the reason.
   */
  #share(y: TrackedValue, shared: Shared, node: OnnxNode, other: string | undefined): void {
    this.#shared.set(y, shared);
    if (other === undefined) return;
    const why = `${labelOf(node)} is not folded: ${quoted(other)} is read by others too`;
    for (const gather of shared.gathers) this.#leave(gather, why, node);
  }

  /** Ends the program of the first gather with a tensor; nobody else reads what is made on the way. */
  #endIn(y: TrackedValue, [first, ...others]: readonly OnnxNode[], chain: Chain): void {
    if (first === undefined) return;
    this.#ends.set(first, { chain, value: y });
    for (const gather of [first, ...others]) {
      const kept = this.#kept.get(gather) ?? [];
      const isLeft = ({ node }: Kept): boolean => node === undefined || !chain.nodes.includes(node);
      this.#kept.set(gather, kept.filter(isLeft));
    }
  }

  /** Folds a view of the result of a gather, or of a tensor that a gather may read. */
  #leaveView(left: Left, y: TrackedValue): void {
    const { node, inputs, opset } = left;
    const [x] = inputs;
    const name = node.inputs[0] ?? "";
    const from = x === undefined ? undefined : this.#shapeOf(name, x);
    if (opset === undefined || x === undefined || from === undefined) return;
    const gathered = this.#gathered.has(x) ? this.#inputOf(name, x) : undefined;
    const ends = gathered === undefined ? [] : this.#endedBy(gathered);
    const [last] = this.#isReadOnce(name) ? ends : [];
    const map = viewMap(left, y, from);
    if (map === undefined) {
      const [was, is] = [x.dims ?? [], y.dims ?? []].map(showDims);
      const why = `${labelOf(node)} is not folded: from ${was ?? ""} to ${is ?? ""} its coordinates are not known`;
      this.#breaks.set(y, why);
      if (last !== undefined) this.#leave(last, why);
      return;
    }
    const choose = once(() => this.#chooseView(node, x, map));
    this.#made.set(y, () => choose()?.made);
    const choice = gathered === undefined ? undefined : choose();
    if (choice === undefined) return;
    this.#mark(y, inputs);
    const { made, taken, why, cycles } = choice;
    const [first] = ends;
    if (taken.length > 0 && first !== undefined) {
      const names = [...this.#sharedBefore(taken), name];
      const other = names.find((entry) => this.#isReadWith(made.best, entry));
      if (other === undefined) this.#endIn(y, [first], made.best);
      else this.#share(y, { gathers: ends, names }, node, undefined);
    }
    if (last === undefined || why === undefined) return;
    this.#leave(last, `${labelOf(node)} ${taken.length > 0 ? partlyFolded : "is not folded"}: ${why}`);
    if (cycles !== undefined) this.#unfolded.set(last, cycles);
  }

  /** Returns the choice of a view of tensor `x`; undefined where there is none. */
  #chooseView(node: OnnxNode, x: TrackedValue, map: AccessMap): Choice | undefined {
    const input = this.#inputOf(node.inputs[0] ?? "", x);
    if (input === undefined) return undefined;
    const choice = this.#choose(node, [input], (chains) =>
      chained(node, map, map.domain, chains, chains[0]?.gather),
    );
    return typeof choice === "string" ? undefined : choice;
  }

  #leaveGather({ node, inputs }: Left, y: TrackedValue, description: ProgramDescription): void {
    const { op, attrs, data, indices, others = [] } = description;
    const types = [data, indices, ...others];
    const result = resolveSource({ op, attrs, inputs: types });
    if (!result.ok) return;
    const { operator, negative, oob, output } = result.resolved;
    const map = accessMap(operator, negative, oob);
    const chains = types.flatMap((type, k): Input[] => {
      const [name, value] = [node.inputs[k] ?? "", inputs[k]];
      const why = value === undefined ? undefined : this.#breaks.get(value);
      if (why !== undefined) this.#leave(node, why);
      if (value === undefined) return [];
      const effective = effectiveType(operator, type, k);
      // A scatter copies its base, or writes into it.
      if (k === 0 && isScatter(map)) return plainly(name, value, effective);
      // Bytes that hold packed elements are a tensor of the model as it stands, or none that is followed.
      const input = effective.dtype === type.dtype ? this.#inputOf(name, value) : undefined;
      if (effective.dtype === type.dtype) return input === undefined ? [] : [input];
      return this.#made.has(value) ? [] : plainly(name, value, effective);
    });
    if (chains.length < types.length) return;
    const choice = this.#choose(node, chains, (chains) => chained(node, map, output, chains, node));
    if (choice === undefined || typeof choice === "string") return;
    const { made, taken, why, cycles } = choice;
    if (why !== undefined) {
      const how = taken.length > 0 ? partlyFolded : "alone, because folding is refused";
      this.#leave(node, `${how}: ${why}`);
      if (cycles !== undefined) this.#unfolded.set(node, cycles);
    }
    this.#ends.set(node, { chain: made.best, value: y });
    // What a scatter makes is read as a tensor: no element of it follows from its coordinates alone.
    if (isScatter(map)) return;
    this.#made.set(y, () => made);
    this.#gathered.add(y);
  }

  /**
   * Records why a gather's program does not include more nodes. `node`, if given, is a node that is not
   * folded but may be folded later.
   */
  #leave(gather: OnnxNode, why: string, node?: OnnxNode): void {
    this.#kept.set(gather, [...(this.#kept.get(gather) ?? []), { why, ...defined({ node }) }]);
  }

  /** Records why the programs of some gathers do not include more nodes. */
  #leaveAll(gathers: readonly OnnxNode[], why: string, node?: OnnxNode): void {
    for (const gather of new Set(gathers)) this.#leave(gather, why, node);
  }

  /** Marks what a node makes of gathered tensors. */
  #mark(y: TrackedValue, inputs: Left["inputs"]): void {
    if (inputs.some((value) => value !== undefined && this.#gathered.has(value))) this.#gathered.add(y);
  }

  /** Returns the gathers whose programs end with a tensor, or may go on to it. */
  #endedBy({ value, through }: Input): readonly OnnxNode[] {
    const gathers = new Set(through.flatMap(({ gather }) => gather ?? []));
    const ended = [...gathers].filter((gather) => this.#ends.get(gather)?.value === value);
    return [...new Set([...ended, ...(this.#shared.get(value)?.gathers ?? [])])];
  }

  /** Returns a tensor as it stands, and as what it is made from: one that is known is already made. */
  #inputOf(name: string, value: TrackedValue): Input | undefined {
    const isConstant = value.constant !== undefined || tensorValue(value) !== undefined;
    const made = isConstant ? undefined : this.#made.get(value)?.();
    const plain = alone(name, value) ?? made?.best;
    if (plain === undefined) return undefined;
    const through = made === undefined ? [] : [...new Set([made.fullChain ?? made.best, made.best])];
    return { value, plain, through: through.filter((chain) => chain !== plain) };
  }

  /** Returns the shape of a tensor that is followed. */
  #shapeOf(name: string, value: TrackedValue): Chain["shape"] | undefined {
    return alone(name, value)?.shape ?? this.#made.get(value)?.()?.best.shape;
  }

  /**
   * Returns the chain of a node, made by `build` from those of its inputs: of all that they are made from, or
   * of as much of it as makes the node's kernel and the kernels of its inputs weigh least. Undefined, or the
   * reason, where there is none.
   */
  #choose(
    node: OnnxNode,
    inputs: readonly Input[],
    build: (chains: readonly Chain[]) => Chain | string | undefined,
  ): Choice | string | undefined {
    const plain = inputs.map((input) => input.plain);
    const longest = inputs.map((input) => input.through[0] ?? input.plain);
    const takenIn = (chains: readonly Chain[]): readonly Input[] =>
      inputs.filter((input, k) => chains[k] !== input.plain);
    const chainOf = (chains: readonly Chain[]): Chain | undefined => {
      const built = build(chains);
      return typeof built === "string" ? undefined : built;
    };
    const separate = once(() => chainOf(plain));
    this.#separate.set(node, separate);
    const full = build(longest);
    const isFull = typeof full === "object";
    if (this.#priceOf === undefined || takenIn(longest).length === 0)
      return isFull ? { made: { best: full }, taken: takenIn(longest) } : full;
    const choices = chainChoices(inputs).flatMap((chains) => {
      const isLongest = chains.every((chain, k) => chain === longest[k]);
      const chain = isLongest && isFull ? full : chainOf(chains);
      return chain === undefined ? [] : [{ chains, chain, weight: this.#sum(chain, "weight") }];
    });
    const least = Math.min(...choices.map(({ weight }) => weight));
    // Where every one is refused, the node is judged by itself.
    const chosen =
      least === Infinity ? choices.at(-1) : choices.find(({ weight }) => weight <= least * asLight);
    if (chosen === undefined) return isFull ? undefined : full;
    const { chain: best, chains } = chosen;
    const taken = takenIn(chains);
    if (!isFull) return { made: { best }, taken, why: full ?? "no program has such a map" };
    const price = this.#price(full);
    if ("refused" in price) return { made: { best }, taken, why: price.refused };
    if (best === full) return { made: { best }, taken };
    const cycles = { folded: this.#sum(full, "cycles"), separate: this.#sum(best, "cycles") };
    return { made: { best, fullChain: full }, taken, why: comparison(cycles), cycles };
  }

  #price(chain: Chain): FoldPrice {
    const price = this.#prices.get(chain);
    if (price !== undefined) return price;
    const made = this.#priceNew(chain);
    this.#prices.set(chain, made);
    return made;
  }

  #priceNew(chain: Chain): FoldPrice {
    if (chain.nodes.every(({ op }) => !copiesElements(op))) return { cycles: 0, weight: 0 };
    const func = programOf(chain, "folded");
    const [wrong] = verifyStructure(func);
    if (wrong !== undefined) return { refused: wrong.message };
    return this.#priceOf?.(func) ?? { cycles: 0, weight: 0 };
  }

  #isReadOnce(name: string): boolean {
    return this.#uses.counts.get(name) === 1;
  }

  /**
   * Returns the price of a chain as one kernel and of the kernels that make its inputs. If other nodes read
   * an input too, a share of its kernel counts.
   */
  #sum(chain: Chain, of: "cycles" | "weight"): number {
    const cached = this.#sums[of].get(chain);
    if (cached !== undefined) return cached;
    const price = this.#price(chain);
    const made = chain.sources.map(({ name, value }) => {
      const best = this.#made.get(value)?.()?.best;
      // What somebody reads as a tensor is made whether or not this chain reads it.
      if (best === undefined || this.#uses.asTensors.has(name)) return 0;
      return this.#sum(best, of) / (this.#uses.counts.get(name) ?? 1);
    });
    const sum = made.reduce((total, piece) => total + piece, "refused" in price ? Infinity : price[of]);
    this.#sums[of].set(chain, sum);
    return sum;
  }

  /**
   * Returns the cycles of a chain as one kernel, and as a kernel for each of its nodes. Undefined where one
   * of these is refused.
   */
  #cyclesOf(chain: Chain): FoldCycles | undefined {
    const cycles = (chain: Chain | undefined): number => {
      const price = chain === undefined ? undefined : this.#price(chain);
      return price === undefined || "refused" in price ? Infinity : price.cycles;
    };
    const separate = chain.nodes.reduce((sum, node) => sum + cycles(this.#separate.get(node)?.()), 0);
    const folded = cycles(chain);
    return Number.isFinite(folded + separate) ? { folded, separate } : undefined;
  }

  /** Returns the result of folding at a gather, after the whole model is walked. `name`: of its program. */
  foldingOf(gather: OnnxNode, name: string): Folding {
    const kept = [...new Set((this.#kept.get(gather) ?? []).map(({ why }) => why))];
    const unfolded = this.#unfolded.get(gather);
    const left = { kept, ...defined({ unfolded }) };
    const chain = this.#ends.get(gather)?.chain;
    if (chain === undefined || chain.nodes.length < 2) return left;
    const func = programOf(chain, name);
    const [wrong] = verifyStructure(func);
    if (wrong !== undefined)
      return { ...left, kept: [...kept, `${labelOf(gather)} is not folded: ${wrong.message}`] };
    const { nodes, sources } = chain;
    const cycles = this.#priceOf === undefined ? undefined : this.#cyclesOf(chain);
    const priced = defined({ cycles });
    return { ...left, folded: { func, nodes, sources, hints: hintsOf(chain), ...priced } };
  }
}

/** Returns a tensor as an input that is read as it stands; none if its shape or type is not known. */
const plainly = (name: string, value: TrackedValue, type: TensorType): Input[] =>
  alone(name, value) === undefined ? [] : [{ value, plain: chainOn({ name, value, type }), through: [] }];

/** Wording for a fold that stops before its end. */
const partlyFolded = "not folded as far as it goes";

/**
 * Factor within which a choice counts as cheap as the cheapest. Of such choices the one that folds most is
 * taken. Estimates are not more exact than this, and a fold saves memory and the wait for another kernel.
 */
const asLight = 1.1;

/** Choices of a node that are all weighed. */
const maxWeighed = 27;

/**
 * Returns the ways to compute the inputs of a node, those with the most nodes first. Each way is a list of
 * one {@link Chain} for each input. If there are more than `maxWeighed` ways, only some are returned.
 */
function chainChoices(inputs: readonly Input[]): readonly (readonly Chain[])[] {
  const values = [...new Map(inputs.map((input) => [input.value, input])).values()];
  const options = values.map(({ through, plain }) => [...through, plain]);
  const all = options.reduce((product, { length }) => product * length, 1);
  const [longest, plain] = [options.map((option) => at(option, 0)), values.map((input) => input.plain)];
  const choices: readonly (readonly Chain[])[] =
    all <= maxWeighed
      ? options.reduce<readonly (readonly Chain[])[]>(
          (choices, option) => choices.flatMap((choice) => option.map((chain) => [...choice, chain])),
          [[]],
        )
      : [
          longest,
          ...options.flatMap((option, k) => option.slice(1).map((chain) => longest.with(k, chain))),
          plain,
        ];
  const nodesOf = (choice: readonly Chain[]): number =>
    choice.reduce((sum, { nodes }) => sum + nodes.length, 0);
  const sorted = choices.toSorted((a, b) => nodesOf(b) - nodesOf(a));
  return sorted.map((choice) =>
    inputs.map(({ value }) =>
      at(
        choice,
        values.findIndex((other) => other.value === value),
      ),
    ),
  );
}

/**
 * Returns a hint (TC910) if a program sums floats, because ONNX does not define the order of the additions.
 * Returns an empty list for any other program.
 */
function hintsOf({ map, nodes, sources }: Chain): readonly Diagnostic[] {
  const [sum] = reductionsIn(map.value);
  const types = map.reads.map(({ table }) => at(sources, table).type.dtype);
  if (sum === undefined || typeOf(sum, types) !== "f32" || (sum.how !== "fold" && sum.how !== "mean"))
    return [];
  const node = nodes.find(({ op }) => isReduction(op));
  const adds = node === undefined ? "a sum adds" : `${labelOf(node)} adds`;
  const message = `the order in which ${adds} its ${map.reduced?.max ?? 0} elements is not defined by ONNX; tilec adds them in ascending order, and rounds each step`;
  return [
    hint("TC910", message, {
      hint: "compare with other runtimes by a tolerance: they may add in another order",
    }),
  ];
}

const isView = ({ domain, op }: OnnxNode): boolean => domain === "" && viewNamed(op) !== undefined;

/** True if a node that is no gather may be folded with one. */
const isFollowed = (node: OnnxNode): boolean =>
  isView(node) || (node.domain === "" && (isElementwise(node.op) || isReduction(node.op)));

/** Readers of the tensors of a model, counted by tensor name. Nested graphs are included. */
interface Uses {
  readonly counts: ReadonlyMap<string, number>;
  /** Tensors that a graph returns, that a node reads which is never folded, or that are a scatter's base. */
  readonly asTensors: ReadonlySet<string>;
}

/**
 * Returns the number of uses of each tensor by name (`counts`), and the names of the tensors that must exist
 * in memory (`asTensors`). `folds` returns true if the computation of input `k` may be merged into the node's
 * program.
 */
function usesIn(graphs: readonly OnnxGraph[], folds: (node: OnnxNode, k: number) => boolean): Uses {
  const counts = new Map<string, number>();
  const asTensors = new Set<string>();
  const visit = ({ nodes, outputs }: OnnxGraph): void => {
    for (const { name } of outputs) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      asTensors.add(name);
    }
    for (const node of nodes) {
      for (const [k, name] of node.inputs.entries()) {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        if (!folds(node, k)) asTensors.add(name);
      }
      for (const attribute of node.attributes.values())
        if (attribute.kind === "graphs") attribute.graphs.forEach(visit);
    }
  };
  graphs.forEach(visit);
  return { counts, asTensors };
}
