/**
 * Plan of a model: the outcome of every node that reads or writes by index, and of the nodes folded into
 * their programs.
 */
import { isRead } from "../../ir/access.js";
import {
  defined,
  at,
  clockVersion,
  cyclesOf,
  entryOf,
  findOp,
  formatLimits,
  inputName,
  inputsOf,
  keyOf,
  dynamicSymbols,
  type Diagnostic,
  type Func,
  type ResolvedSchedule,
  type Roofline,
  type SourceFunc,
} from "../../ir/index.js";
import { isBug } from "../../ir/faults.js";
import { requestedBy } from "../api/try-text.js";
import { rooflineOfKernel } from "../explain/kernel-roofline.js";
import { labelOf, type FoldCycles } from "../formats/onnx/index.js";
import { tune } from "../tune/tune.js";
import { gatherFaults } from "./gather-faults.js";
import type { ListedGather } from "./list-model.js";
import type { LoadedModel } from "./load-model.js";
import { moduleStems } from "./module-stems.js";
import { isSeparateProgram, placePrograms, type Chosen } from "./place-programs.js";

/**
 * Statuses of a model's node in a plan: compiled to a kernel, merged into another node's kernel (`folded`),
 * rejected (`refused`), or of unknown shape (`open`).
 */
export const planStatuses = ["compiled", "folded", "refused", "open"] as const;

/**
 * Plan entry for one node of a model: the status and, for a node with a program, the program's estimated
 * cycles and global memory bytes.
 */
export interface PlannedNode {
  /** Index in model order, from 0. Nodes of a subgraph follow the node that contains the subgraph. */
  readonly index: number;
  /**
   * Name that is unique in the model and valid in program text. For a gather, it is the value of `--func`.
   */
  readonly name: string;
  /** ONNX's name of the operator. */
  readonly op: string;
  /** "" for ONNX's own operators. */
  readonly domain: string;
  /**
   * `compiled`: a program of its own. `folded`: it is done by the programs of `into`. `open`: its shape is not known.
   */
  readonly status: (typeof planStatuses)[number];
  /** Names of the gathers whose programs do what this node does. */
  readonly into?: readonly string[];
  /** Reason of the status `refused` or `open`; for other nodes, remarks about the program. */
  readonly reason?: string;
  /** `legal`, or the code of the refusal. */
  readonly verdict?: string;
  /** That the program moves through global memory. */
  readonly bytes?: number;
  readonly floor?: Roofline["floor"];
  /** Cycles of the default schedule, without its launch. */
  readonly cycles?: number;
  /**
   * Cycles of a gather with the nodes around it: as one folded kernel, and as separate kernels, with a launch
   * for each kernel. `taken`: true if the fold is used.
   */
  readonly fold?: FoldCycles & { readonly taken: boolean; readonly launch: number };
  /** The file that `compile --emit module --out FOLDER` writes its program to. */
  readonly module?: string;
  /** Best schedule of a search, with its cycles. */
  readonly best?: { readonly cycles: number; readonly schedule: ResolvedSchedule };
  /** Tensors of the model that hold its index values. */
  readonly indices?: readonly string[];
}

/**
 * Plan of a model, as printed by `tilec plan`: an entry for each node that reads or writes by index, shared
 * index tensors, totals and hints.
 */
export interface ModelPlan {
  readonly clock: number;
  readonly nodes: readonly PlannedNode[];
  /** Names of index tensors that several nodes read, each with the names of those nodes. */
  readonly shared: readonly { readonly indices: string; readonly nodes: readonly string[] }[];
  /** Number of nodes with each status, and cycles and bytes of all compiled nodes. */
  readonly totals: Readonly<Record<(typeof planStatuses)[number] | "bytes" | "cycles", number>>;
  /** Hints on how to bind the dynamic dims. */
  readonly hints: readonly string[];
  /** Bugs in tilec, each of which cost one node. */
  readonly bugs: readonly Diagnostic[];
}

/**
 * Resolves to the plan of a model: the program that computes each node, with the estimated cost. `budget`:
 * maximum number of schedules to search per gather; absent, no search. `onTuned`: progress callback.
 */
export async function planModel(
  { uses }: Pick<LoadedModel, "uses">,
  listed: readonly ListedGather[],
  budget?: number,
  onTuned?: (done: string, total: number) => void,
): Promise<ModelPlan> {
  const { chosen, programs, placed } = placePrograms(uses, listed);
  const names = new Map(uses.map(({ node, name }) => [node, name]));
  const total = programs.filter(({ gather }) => placed.get(gather)?.into.includes(gather)).length;
  const stemOf = moduleStems(
    uses.flatMap(({ node }) => {
      const program = chosen.get(node);
      return program !== undefined && isSeparateProgram(program, placed)
        ? (program.listed.loaded?.func.name ?? [])
        : [];
    }),
  );
  const nodes: PlannedNode[] = [];
  const bugs = listed.flatMap(({ diagnostics }) => diagnostics.filter(isBug));
  for (const [index, { node, name }] of uses.entries()) {
    const { op, domain } = node;
    const head = { index, name, op, domain };
    const { into = [], needed = false } = placed.get(node) ?? {};
    const named = chosen.get(node);
    if (named !== undefined && isSeparateProgram(named, placed)) {
      const program = await programOf(named, stemOf, budget).catch((thrown: unknown) => {
        const diagnostics = gatherFaults(thrown, name);
        bugs.push(...diagnostics.filter(isBug));
        return withoutProgram({ ...named.listed, verdict: "refused", diagnostics });
      });
      nodes.push({ ...head, ...program });
      if (named.listed.kernel !== undefined) onTuned?.(name, total);
    } else if (into.length > 0) {
      const isEnd = programs.some(({ gather, nodes: all }) => into.includes(gather) && all.at(-1) === node);
      nodes.push({
        ...head,
        status: "folded",
        into: into.map((gather) => names.get(gather) ?? ""),
        ...(needed && !isEnd ? { reason: "others read what it makes, so that it runs by itself too" } : {}),
      });
    }
  }
  const of = (status: PlannedNode["status"]): number => nodes.filter((node) => node.status === status).length;
  const sum = (key: "bytes" | "cycles"): number => nodes.reduce((all, node) => all + (node[key] ?? 0), 0);
  return {
    clock: clockVersion,
    nodes,
    shared: sharedBy(nodes),
    totals: {
      compiled: of("compiled"),
      folded: of("folded"),
      refused: of("refused"),
      open: of("open"),
      bytes: sum("bytes"),
      cycles: sum("cycles"),
    },
    bugs,
    hints: [
      ...new Set(
        listed.flatMap((gather) => (gather.verdict === "open" ? (gather.diagnostics[0]?.hint ?? []) : [])),
      ),
    ],
  };
}

type Program = Omit<PlannedNode, "index" | "name" | "op" | "domain">;

/**
 * Resolves to the plan entry of a gather with a separate program; the caller adds index, name and operator.
 * `stemOf`: returns the name of a program's module file without extension. `budget`: maximum number of
 * schedules to search; undefined, no search.
 */
async function programOf(
  { listed, refused }: Chosen,
  stemOf: (program: string) => string,
  budget: number | undefined,
): Promise<Program> {
  const { kernel, verdict, loaded } = listed;
  if (kernel === undefined || loaded === undefined) return withoutProgram(listed);
  const clock = cyclesOf(kernel.tile, kernel.target);
  const { cycles } = clock;
  const { bytes, floor } = rooflineOfKernel(kernel, clock) ?? {};
  const symbols = kernel.access === undefined ? [] : dynamicSymbols(kernel.access);
  const requested = requestedBy(kernel);
  const weighed = listed.fold ?? listed.unfolded;
  const fold = weighed && {
    ...weighed,
    taken: listed.fold !== undefined,
    launch: kernel.target.launchCycles,
  };
  const said = [
    ...(symbols.length === 0
      ? []
      : [
          `open up to ${symbols.map(({ name, most }) => `${name} = ${most}`).join(", ")}, of which the figures are`,
        ]),
    ...(refused === undefined ? [] : [`alone, because folding is refused: ${reasonOf(refused)}`]),
    ...(listed.kept ?? []),
    ...(Object.keys(requested).length === 0
      ? []
      : [`its device is requested with more than every device has: ${formatLimits(requested)}`]),
  ];
  const program =
    budget === undefined ? undefined : (await tune(loaded.func, { budget, target: kernel.target })).best;
  return {
    status: "compiled",
    ...(said.length > 0 ? { reason: said.join("; ") } : {}),
    verdict,
    ...defined({ bytes, floor }),
    cycles,
    ...defined({ fold }),
    module: `${stemOf(loaded.func.name)}.js`,
    ...defined({ best: program && { cycles: program.cycles, schedule: program.schedule } }),
    ...fixedIndices(listed),
  };
}

/**
 * Returns the plan entry of a gather without a program: status (`open` or `refused`), reason and diagnostic
 * code.
 */
function withoutProgram(listed: ListedGather): Program {
  const { verdict, diagnostics } = listed;
  const status = verdict === "open" ? verdict : "refused";
  const { code } = reported(diagnostics) ?? {};
  return {
    status,
    reason: reasonOf(listed),
    ...defined({ verdict: code }),
    ...fixedIndices(listed),
  };
}

const fixedIndices = (listed: ListedGather): Pick<PlannedNode, "indices"> => {
  const indices = indicesOf(listed);
  return indices.length === 0 ? {} : { indices };
};

/**
 * Returns the first error among the diagnostics of a gather without a program, or else the first diagnostic.
 * Undefined for an empty list.
 */
const reported = (diagnostics: readonly Diagnostic[]): Diagnostic | undefined =>
  diagnostics.find(({ severity }) => severity === "error") ?? diagnostics[0];

/** Returns the message that explains why a gather is refused, without the prefix that names its node. */
function reasonOf({ diagnostics, node }: ListedGather): string {
  const { message = "" } = reported(diagnostics) ?? {};
  const place = `${labelOf(node)}: `;
  const start = message.indexOf(place);
  return start === -1 ? message : message.slice(start + place.length);
}

/**
 * Returns the names, in the model, of the tensors from which a node's program reads index values. The list is
 * empty for a node without a program.
 */
function indicesOf({ node, loaded, reads }: ListedGather): readonly string[] {
  if (loaded === undefined) return [];
  const { func } = loaded;
  const inputs = inputsOf(func);
  const nameOf = (k: number): string =>
    (reads === undefined ? node.inputs[k] : entryOf(reads, keyOf(at(inputs, k)))) ?? "";
  const names = func.level === "source" ? indexInputs(func) : indexTables(func);
  return [...new Set(names)].map(nameOf).filter((name) => name !== "");
}

/** Returns the numbers of the inputs of an operator that hold index values. */
function indexInputs({ op, operands }: SourceFunc): readonly number[] {
  const { values = [], ...def } = findOp(op) ?? {};
  return inputsOf({ operands }).flatMap((_, k) => (k === 0 || values.includes(inputName(def, k)) ? [] : [k]));
}

/** Returns the numbers of the inputs from which a program reads index values. */
const indexTables = (func: Func): readonly number[] =>
  func.level === "access"
    ? func.map.indices.flatMap(({ value }) => (isRead(value) ? [value.table] : []))
    : [];

function sharedBy(nodes: readonly PlannedNode[]): ModelPlan["shared"] {
  const readers = new Map<string, string[]>();
  for (const { name, indices = [] } of nodes)
    for (const tensor of indices) readers.set(tensor, [...(readers.get(tensor) ?? []), name]);
  return [...readers].flatMap(([indices, names]) => (names.length > 1 ? [{ indices, nodes: names }] : []));
}
