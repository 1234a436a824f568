/**
 * A tile program as a PTO-ISA kernel, decided before any text: words, tasks, event ids, the lowering of its
 * gather, and where what the lowering adds lies in UB.
 */
import { defined } from "../../ir/defined.js";
import { gatheredTable, isMove } from "../../ir/access.js";
import { gatherAddresses, placeIn } from "../../ir/addressing.js";
import { programLowering } from "../../ir/clock/index.js";
import { CompileError, type Diagnostic } from "../../ir/diagnostic.js";
import {
  inputsOf,
  operandNamed,
  outputOf,
  isInPlace,
  inoutOf,
  type Operand,
  type TileFunc,
} from "../../ir/func.js";
import type { IndexRule } from "../../ir/policy.js";
import { pipeOf, ubBuffers } from "../../ir/regions.js";
import { targetFacts, type Target } from "../../ir/target.js";
import { taskOfTile, type Located, type ParallelNest } from "../../ir/task/index.js";
import type { Added, AddedName } from "../../ir/tiling/flat-program.js";
import type { GatherLowering } from "../../ir/tiling/lowering.js";
import { ubBytes, ubEnd, type GatherStmt, type Pipe, type SyncStmt, type UbBuffer } from "../../ir/tile.js";
import { alignUp, at, InternalError, invariant } from "../../ir/types.js";
import { ascendAnswer, type ElementCondition } from "../ascend-answer.js";
import { planGather, type GatherPlan } from "../plan/gather.js";
import { writtenBy } from "../plan/written.js";
import { eventIds, eventsOfProgram } from "./events.js";
import type { PtoBuffer, PtoParam } from "./kernel.js";
import { ptoNamesOf, type PtoNames } from "./names.js";
import {
  beyondInt32,
  beyondInt64,
  beyondForm,
  beyondWords,
  misfits,
  notForPto,
  spilled,
  tooManyEvents,
} from "./refusals.js";
import { planScatter, type PtoScatter } from "./scatter-plan.js";
import { dataWord, i32, indexWord, type Word } from "./words.js";

/**
 * Plan of the gather of a PTO-ISA kernel, with the lowering and the hardware pipe (instruction queue).
 * Addresses are in elements of the tensor or buffer.
 */
export interface PtoGather extends GatherPlan {
  /** Out-of-range rules of the index operands that have a policy, in the order of the index operands. */
  readonly rules: readonly IndexRule[];
  readonly lowering: GatherLowering;
  /** Pipe of the gather, as named by the program's syncs. */
  readonly pipe: Pipe;
}

/** Plan of a PTO-ISA kernel: all decisions that are made before the C++ text is emitted. */
export interface PtoPlan {
  readonly func: TileFunc;
  readonly target: Target;
  readonly names: PtoNames;
  readonly nest: ParallelNest;
  readonly blocks: number;
  /** Plan of the gather; absent if the output has no elements, and for a scatter. */
  readonly gather?: PtoGather;
  /** Plan of the scatter; absent if the output has no elements, and for a gather. */
  readonly scatter?: PtoScatter;
  readonly buffers: ReadonlyMap<string, UbBuffer>;
  /**
   * Returns the word type that elements of an operand or a UB buffer move as, by the buffer's name in the
   * program.
   */
  readonly words: (name: string) => Word;
  /** The first event id of each sync. */
  readonly events: ReadonlyMap<SyncStmt, number>;
  /** Byte addresses of what the lowering adds. */
  readonly added: ReadonlyMap<AddedName, { readonly address: number; readonly bytes: number }>;
  readonly ubPeak: number;
  /** Conditions on elements under which the bits are the stated ones. */
  readonly assumes: readonly ElementCondition[];
}

/**
 * Returns the plan of the PTO-ISA kernel for a tile program. Throws a CompileError: TC505 if PTO-ISA cannot
 * express the program, TC202 for buffers without addresses, TC401 if the unified buffer (UB) is too small.
 */
export function planPto(given: TileFunc, target: Target): PtoPlan {
  const func = writtenBy(given);
  const task = taskOfTile(func);
  const { nest } = task;
  const stmt = task.gather?.stmt;
  refuse(targetFacts[target.kind].runsPto ? beyondForm(func, stmt) : notForPto(func, target));
  const allocated = ubBuffers(func);
  refuse([...misfits(func, allocated, stmt), ...beyondInt32(func)]);
  const lowering = stmt === undefined ? undefined : programLowering(func, target);
  const names = ptoNamesOf(func);
  const scatter = planScatter(func, allocated, target.blockBytes);
  const slots = [...(scatter?.slots.values() ?? [])];
  const buffers = new Map([...allocated, ...slots.map((slot) => [slot.name, slot] as const)]);
  const words = wordsOf(func, buffers, stmt, scatter);
  refuse(beyondWords(func, words));
  const gather =
    task.gather === undefined || lowering === undefined
      ? undefined
      : gatherOf(func, buffers, task.gather, lowering);
  refuse(gather === undefined ? [] : beyondInt64(gather));
  const events = eventIds(func);
  refuse(events.pairs.flatMap(({ sync, ids }) => (ids > eventsOfProgram ? [tooManyEvents(sync, ids)] : [])));
  const computes = stmt !== undefined && !isMove(stmt.map);
  const used = [...buffers.values()].filter(({ name }) => computes || stmt?.scratch?.includes(name) !== true);
  const peak = ubEnd(used);
  const scratch = (computes ? [] : (stmt?.scratch ?? [])).flatMap((name) => buffers.get(name) ?? []);
  const { added, end } = placed(lowering?.adds ?? [], scratch, peak, target);
  const budget = func.schedule.ubBytes ?? target.ubBytes;
  const answer = stmt === undefined ? undefined : ascendAnswer(stmt.map, inputsOf(func));
  const adds = lowering?.adds ?? slots.map((slot) => ({ name: slot.name, bytes: ubBytes(slot) }));
  refuse(end > budget ? [spilled(func, target, { peak: ubEnd(allocated.values()), end, budget, adds })] : []);
  return {
    func,
    target,
    names: withSlots(namesInPlace(func, names), slots),
    nest,
    blocks:
      stmt === undefined && scatter === undefined
        ? 0
        : Math.min(func.schedule.cores ?? target.cores, nest.tasks),
    ...defined({ gather, scatter }),
    buffers: new Map(used.map((buffer) => [buffer.name, buffer])),
    words,
    events: events.first,
    added,
    ubPeak: end,
    assumes: scatter?.assumes ?? (answer?.ok === true ? answer.assumes : []),
  };
}

function refuse(diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length > 0) throw new CompileError(diagnostics);
}

/**
 * Returns a function that maps the name of an operand or buffer to the C++ type in which its elements are
 * moved. The function throws an InternalError for an unknown name.
 */
function wordsOf(
  func: TileFunc,
  buffers: ReadonlyMap<string, UbBuffer>,
  stmt: GatherStmt | undefined,
  scatter: PtoScatter | undefined,
): (name: string) => Word {
  const indices = new Set(stmt?.from.slice(1).map(({ buffer }) => buffer));
  return (name) => {
    const operand = operandNamed(func, name);
    const dtype = (operand?.type ?? buffers.get(name))?.dtype;
    if (dtype === undefined) throw new InternalError(`%${name} is no buffer`);
    if (stmt?.scratch?.includes(name) === true && isMove(stmt.map)) return i32;
    if (scatter !== undefined)
      return scatter.indexBuffers.has(name) ? indexWord(dtype) : dataWord(dtype, false);
    return operand?.role === "indices" || indices.has(name) ? indexWord(dtype) : dataWord(dtype, false);
  };
}

/**
 * Returns the plan of a kernel's gather, including the lowering and the hardware pipe (instruction queue).
 */
function gatherOf(
  func: TileFunc,
  buffers: ReadonlyMap<string, UbBuffer>,
  gather: Located<GatherStmt>,
  lowering: GatherLowering,
): PtoGather {
  const { stmt } = gather;
  const pipe = pipeOf(stmt, func);
  invariant(pipe !== undefined, "a gather runs on a pipe");
  const addresses = gatherAddresses(stmt, (region) => placeIn(func, buffers, region));
  const planned = planGather(func, gather, addresses);
  const rules = planned.indexSteps.flatMap(({ rule }) => rule ?? []);
  return { ...planned, rules, lowering, pipe };
}

/**
 * Returns the byte address of each buffer that the lowering adds, and the end of the bytes in use. The
 * buffers take the places of the program's scratch tiles if these are large enough; else they follow the
 * program's buffers.
 */
function placed(adds: readonly Added[], scratch: readonly UbBuffer[], peak: number, target: Target) {
  const added = new Map<AddedName, { address: number; bytes: number }>();
  const fits =
    scratch.length === adds.length && adds.every(({ bytes }, k) => ubBytes(at(scratch, k)) >= bytes);
  let end = peak;
  for (const [k, { name, bytes }] of adds.entries()) {
    const stated = fits ? at(scratch, k).addresses?.[0] : undefined;
    const address = stated ?? alignUp(end, target.blockBytes);
    added.set(name, { address, bytes });
    end = Math.max(end, address + bytes);
  }
  return { added, end };
}

/** Returns the identifiers of a program. An output in place has that of the input whose memory it is. */
function namesInPlace(func: TileFunc, names: PtoNames): PtoNames {
  const base = inoutOf(func)?.name;
  const output = outputOf(func).name;
  return { ...names, buffer: (name) => names.buffer(name === output ? (base ?? name) : name) };
}

/** Returns the identifiers of a program, and those of slots, whose names are identifiers. */
function withSlots(names: PtoNames, slots: readonly UbBuffer[]): PtoNames {
  const slotNames = new Set(slots.map(({ name }) => name));
  return { ...names, buffer: (name) => (slotNames.has(name) ? name : names.buffer(name)) };
}

/** Returns the parameters that the host passes to a kernel, in the order of the kernel's signature. */
export function paramsOf({ func, names, words, gather, scatter }: PtoPlan): readonly PtoParam[] {
  const paramOf = ({ name, role, inout }: Operand): PtoParam => ({
    name: names.buffer(name),
    role: inout === true ? "output" : role,
    word: words(name).name,
  });
  const operands = isInPlace(func) ? inputsOf(func) : func.operands;
  const status: PtoParam = { name: "status", role: "status", word: i32.name };
  return [...operands.map(paramOf), ...((gather ?? scatter)?.reports === true ? [status] : [])];
}

/** Returns the C++ identifier of a buffer that the lowering adds to the program's buffers. */
export const addedName = (added: AddedName): string => `${added}_ub`;

/**
 * Returns all buffers of a kernel in the unified buffer (UB): the program's buffers, then the buffers that
 * the lowering adds.
 */
export const ptoBuffers = ({ buffers, added, names }: PtoPlan): readonly PtoBuffer[] => [
  ...[...buffers.values()].map((buffer) => ({
    name: names.buffer(buffer.name),
    addresses: buffer.addresses ?? [],
    bytes: ubBytes(buffer),
  })),
  ...[...added].map(([name, { address, bytes }]) => ({ name: addedName(name), addresses: [address], bytes })),
];

/**
 * Returns the buffer in the unified buffer (UB) that contains the gathered data; undefined if the data is in
 * global memory.
 */
export const dataBuffer = ({ buffers }: PtoPlan, { stmt }: PtoGather): UbBuffer | undefined =>
  buffers.get(at(stmt.from, gatheredTable).buffer);

/**
 * Returns the buffer in the unified buffer (UB) that the gather writes. Throws an InternalError if there is
 * none.
 */
export const outputBuffer = ({ buffers, func }: PtoPlan, { stmt }: PtoGather): UbBuffer => {
  const buffer = buffers.get(stmt.to.buffer);
  invariant(buffer !== undefined, `%${outputOf(func).name} is written through a tile`);
  return buffer;
};
