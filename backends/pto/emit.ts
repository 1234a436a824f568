/** pto: a planned kernel as C++ text. One case per tile statement; nothing is decided here. */
import { checkArgument } from "../../ir/argument.js";
import { startOf } from "../../ir/addressing.js";
import { operandNamed, type TileFunc } from "../../ir/func.js";
import { constant, equalLinear, isConstant, loopVariables, sub } from "../../ir/linear.js";
import type { Target } from "../../ir/target.js";
import type { AddedName } from "../../ir/tiling/flat-program.js";
import { printStmtHead } from "../../ir/text/print.js";
import { regionsOf, flatten, type ForStmt, type Stmt, type SyncStmt, type Region } from "../../ir/tile.js";
import { assertNever, at, InternalError, invariant, strides } from "../../ir/types.js";
import { PtoContext } from "./context.js";
import { emitMgather, emitRowCopy, emitRowFetch } from "./gather-rows.js";
import { emitScalar } from "./gather-scalar.js";
import { emitFlat, emitFlatSetup, emitOutOfRangeFlags } from "./gather-flat.js";
import { emitValues } from "./gather-values.js";
import { conditionText } from "../ascend-answer.js";
import type { PtoKernel } from "./kernel.js";
import { addedName, ptoBuffers, paramsOf, planPto, type PtoGather, type PtoPlan } from "./plan.js";
import { resolverLines } from "./indices.js";
import { emitFill, emitScatter } from "./scatter.js";
import type { PtoScatter } from "./scatter-plan.js";
import { emitTransfer } from "./transfer.js";

/**
 * Emits a tile program as one C++ translation unit for PTO-ISA. Throws a CompileError: TC505 for an
 * unsupported program, TC202 for buffers without addresses, TC401 if the unified buffer (UB) is too small.
 */
export function emitPto(func: TileFunc, target: Target): PtoKernel {
  checkArgument("emitPto", "tile program", func);
  const plan = planPto(func, target);
  return {
    code: textOf(plan),
    entryPoint: plan.names.entryPoint,
    ...(plan.scatter?.isChecked === true ? { checkEntryPoint: checkName(plan) } : {}),
    blocks: plan.blocks,
    params: paramsOf(plan),
    buffers: ptoBuffers(plan),
    ubPeak: plan.ubPeak,
    assumes: plan.assumes,
  };
}

/** Returns the C++ source of a planned PTO-ISA kernel. */
function textOf(plan: PtoPlan): string {
  const { func, target, gather, scatter, nest } = plan;
  const { entryPoint } = plan.names;
  const context = new PtoContext(plan);
  const { out } = context;
  const indexed = gather === undefined || isScalar(gather) ? (gather ?? scatter) : undefined;
  const cores = func.schedule.cores ?? target.cores;
  const budget = func.schedule.ubBytes ?? target.ubBytes;
  const main = entryOf(context, entryPoint, false);
  const checks = scatter?.isChecked === true ? [entryOf(new PtoContext(plan), checkName(plan), true)] : [];
  out.line(
    `// tilec emit pto: @${func.name} for ${target.name}, ${cores} cores, ${plan.ubPeak} of ${budget} B of UB`,
  );
  out.line(`// blocks: ${plan.blocks}`);
  if (plan.assumes.length > 0) {
    out.line("// the stated bits where each element that enters a computation is");
    for (const condition of plan.assumes) out.line(`//   of ${conditionText(condition)}`);
  }
  out.line("#include <cstdint>");
  out.line("#include <pto/pto-inst.hpp>");
  out.line("using namespace pto;");
  out.line("");
  if (nest.loops.length > 0) {
    out.line(`constexpr uint32_t ${entryPoint}_cores = ${cores};`);
    out.line("");
  }
  if (indexed !== undefined) out.append(resolverLines(plan, indexed));
  out.append(context.helperLines());
  for (const check of checks) {
    out.line(
      "// To be launched first: the status says whether an index is rejected, and nothing is written.",
    );
    out.append(check);
    out.line("");
  }
  out.append(main);
  return out.toString();
}

const checkName = ({ names }: PtoPlan): string => `${names.entryPoint}_check`;

/**
 * Returns the lines of a C++ entry point of the kernel. `isCheck`: true for the entry point that only checks
 * the index values.
 */
function entryOf(context: PtoContext, name: string, isCheck: boolean): readonly string[] {
  const { out, plan } = context;
  const work = plan.gather ?? plan.scatter;
  const body =
    work === undefined
      ? []
      : out.aside(() => {
          emitBody(context, work, isCheck);
        });
  const params = paramsOf(plan).map(({ name: param, word }) => `__gm__ ${word}* ${param}`);
  return out.apart(() => {
    out.line(`extern "C" __global__ AICORE void ${name}(${params.join(", ")})`);
    out.block("", () => {
      if (work === undefined) return;
      emitConstants(context);
      out.append(body);
    });
  });
}

/** Classes that read indices one by one. */
const isScalar = ({ lowering, values }: PtoGather): boolean => {
  if (values !== undefined) return true;
  switch (lowering.class) {
    case "row-copy":
    case "row-fetch":
    case "scalar":
      return true;
    case "flat":
    case "mgather":
      return false;
    case "direct":
      throw new InternalError("an Ascend target has no direct gather");
    default:
      return assertNever(lowering.class);
  }
};

/**
 * Emits the constants of a kernel: the addresses of buffers in the unified buffer (UB), then the tile types.
 */
function emitConstants(context: PtoContext): void {
  const { out, plan } = context;
  const { buffers, added } = plan;
  for (const { name, addresses = [], buffers: copies } of buffers.values()) {
    const variable = plan.names.buffer(name);
    out.line(
      copies === 2
        ? `constexpr uint64_t ${variable}[2] = {${addresses.join(", ")}};`
        : `constexpr uint64_t ${variable} = ${at(addresses, 0)};`,
    );
  }
  for (const [what, { address }] of added) {
    out.line(`constexpr uint64_t ${addedName(what)} = ${address}; // ${meanings[what]}`);
  }
  for (const line of context.typeLines()) out.line(line);
  out.line("");
}

const meanings: Readonly<Record<AddedName, string>> = {
  narrow: "index values of other sizes, as 32-bit ones",
  addresses: "index values, then addresses in the data tile",
  pattern: "which index value each word of the output takes",
  base: "where the place of each word begins in the data tile",
  seen: "marks of index values outside",
  widened: "the data tile as 2-byte words, then those of a strip of the output",
  border: "a block of zeros, for index values outside",
};

/**
 * Emits the body of a kernel: setup, variables, tasks, and the report of indices out of range. `isCheck`:
 * true to emit only what checks the index values.
 */
function emitBody(context: PtoContext, { reports }: PtoGather | PtoScatter, isCheck: boolean): void {
  const { out, plan } = context;
  const { nest, buffers, func, gather } = plan;
  out.line("set_mask_norm();");
  out.line("set_vector_mask(-1, -1);");
  if (nest.loops.length === 0) out.line("if (get_block_idx() != 0) return;");
  // Types are named in the order of the statements: the body comes first, and what is set up before it after.
  const main = out.apart(() => {
    emitTasks(context, isCheck);
  });
  const setup = out.apart(() => {
    if (gather !== undefined) emitSetup(context, gather);
  });
  out.append(setup);
  out.line("");
  const doubled = [...buffers.values()].filter((buffer) => buffer.buffers === 2);
  if (doubled.length > 0) {
    out.line(`uint32_t ${doubled.map(({ name }) => `${plan.names.copyIndex(name)} = 1`).join(", ")};`);
  }
  const lagged = laggedSyncs(func);
  if (lagged.length > 0) {
    const counters = lagged.map((_, k) => `sync${k} = 0`).join(", ");
    out.line(`uint32_t ${counters}; // runs of the syncs with lag 1`);
  }
  if (reports) out.line("bool bad = false;");
  out.append(main);
  if (lagged.length > 0) out.line("// the last flag of each sync with lag 1");
  for (const sync of lagged) out.line(lastFlag(context, sync));
  if (reports) {
    if (gather !== undefined && plan.added.has("seen")) emitOutOfRangeFlags(context, gather);
    out.line("if (bad) status[get_block_idx()] = 1;");
  }
}

/**
 * Emits the setup code that a core executes before the first task. Only gathers with the lowering `flat`
 * (vector instructions) have a setup.
 */
function emitSetup(context: PtoContext, gather: PtoGather): void {
  switch (gather.lowering.class) {
    case "flat":
      emitFlatSetup(context, gather);
      break;
    case "row-fetch":
    case "row-copy":
    case "mgather":
    case "scalar":
    case "direct":
      break;
    default:
      assertNever(gather.lowering.class);
  }
}

/**
 * Emits the perfect nest of parallel loops as one loop over tasks, which are partitioned among cores. Emits
 * only the statements if there are no parallel loops. `isCheck`: true to emit only what checks the index
 * values.
 */
function emitTasks(context: PtoContext, isCheck: boolean): void {
  const { out, plan } = context;
  const { nest, names } = plan;
  if (nest.loops.length === 0) {
    emitStmts(context, nest.body, isCheck);
    return;
  }
  const cores = `${names.entryPoint}_cores`;
  const rotated = plan.func.schedule.rotate === "on";
  if (rotated) {
    out.line("// each core begins at another of its tasks, so that slabs which cores share are loaded apart");
    out.line(`const uint32_t own = (${nest.tasks} + ${cores} - 1 - get_block_idx()) / ${cores};`);
  }
  context.scope(
    rotated
      ? "for (uint32_t run = 0; run < own; run++)"
      : `for (uint32_t task = get_block_idx(); task < ${nest.tasks}; task += ${cores})`,
    () => {
      if (rotated)
        out.line(`const uint32_t task = get_block_idx() + (run + get_block_idx()) % own * ${cores};`);
      let inner = nest.tasks;
      nest.loops.forEach(({ stmt, trips }, k) => {
        inner /= trips;
        const number = `(int32_t)(task${inner === 1 ? "" : ` / ${inner}`} % ${trips})`;
        const start = equalLinear(stmt.lower, constant(0)) ? "" : `${context.form(stmt.lower)} + `;
        const variable = names.iv(stmt.iv);
        out.line(`const int32_t ${variable} = ${start}${number}${stmt.step === 1 ? "" : ` * ${stmt.step}`};`);
        if (!isConstant(sub(stmt.upper, stmt.lower))) {
          out.line(`if (${variable} >= ${context.form(stmt.upper)}) continue;`);
        }
        const later = nest.loops.slice(k + 1).map((loop) => loop.stmt.iv);
        declareSizes(context, nest.body, stmt.iv, later);
      });
      emitStmts(context, nest.body, isCheck);
    },
  );
}

/**
 * Emits a C++ variable for each region size in `body` that depends on loop variable `variable`. Sizes that
 * also depend on an inner loop, or on a loop variable in `later`, get no variable.
 */
function declareSizes(
  context: PtoContext,
  body: readonly Stmt[],
  variable: string,
  later: readonly string[] = [],
): void {
  const inner = flatten(body).flatMap((stmt) => (stmt.op === "for" ? [stmt.iv] : []));
  const inside = new Set([...inner, ...later]);
  const sizes = flatten(body).flatMap((stmt) => regionsOf(stmt).flatMap((region) => region.sizes));
  for (const size of sizes) {
    const variables = loopVariables(size);
    if (variables.has(variable) && ![...variables].some((name) => inside.has(name)))
      context.declareSize(size, context.plan.names.iv(variable));
  }
}

/**
 * Emits the code of statements, with the text of each statement as a comment. Loops get no comment.
 * `isCheck`: true to emit only what checks the index values.
 */
function emitStmts(context: PtoContext, body: readonly Stmt[], isCheck: boolean): void {
  const { out, plan } = context;
  for (const stmt of body) {
    if (stmt.op === "alloc" || (isCheck && isLeftOut(plan, stmt))) continue;
    if (stmt.op !== "for") out.line(`// ${printStmtHead(stmt)}`);
    switch (stmt.op) {
      case "for":
        emitFor(context, stmt, isCheck);
        break;
      case "load":
        emitCopy(context, "load", stmt.to, stmt.from);
        break;
      case "store":
        emitCopy(context, "store", stmt.from, stmt.to);
        break;
      case "gather":
        emitGather(context);
        break;
      case "sync":
        emitSync(context, stmt);
        break;
      case "scatter":
        invariant(plan.scatter !== undefined, "the kernel has a scatter");
        emitScatter(context, plan.scatter, isCheck);
        break;
      case "fill":
        emitFill(context, stmt);
        break;
      default:
        assertNever(stmt);
    }
  }
}

/** True if a check of index values leaves a statement out: it moves other elements. */
function isLeftOut({ scatter }: PtoPlan, stmt: Stmt): boolean {
  if (stmt.op === "store" || stmt.op === "fill") return true;
  return stmt.op === "load" && scatter?.indexBuffers.has(stmt.to) !== true;
}

/** Emits a loop and the loop's body. `isCheck`: true to emit only what checks the index values. */
function emitFor(context: PtoContext, stmt: ForStmt, isCheck: boolean): void {
  const variable = context.plan.names.iv(stmt.iv);
  const range = `int32_t ${variable} = ${context.form(stmt.lower)}; ${variable} < ${context.form(stmt.upper)}`;
  context.sizesWithin(() => {
    context.scope(`for (${range}; ${variable} += ${stmt.step})`, () => {
      declareSizes(context, stmt.body, stmt.iv);
      emitStmts(context, stmt.body, isCheck);
    });
  });
}

/**
 * Emits a load of a region of a tensor into a buffer in the unified buffer (UB), or a store from the buffer.
 * A load into a double buffer first switches to the copy that is not in use.
 */
function emitCopy(context: PtoContext, what: "load" | "store", name: string, region: Region): void {
  const buffer = context.plan.buffers.get(name);
  const operand = operandNamed(context.plan.func, region.buffer);
  invariant(buffer !== undefined && operand !== undefined, `a ${what} is of a tile and a tensor`);
  if (what === "load") context.switchCopy(buffer);
  const inGm = strides(operand.type.shape);
  const tile = emitTransfer(context, {
    what,
    operand: operand.name,
    start: startOf({ offsets: region.offsets, strides: inGm }),
    strides: inGm,
    buffer,
    shape: buffer.shape,
    address: context.address(buffer),
    sizes: region.sizes,
  });
  if (what === "load" && tile !== undefined) context.setTile(buffer, tile);
}

/** Emits the instructions of the program's gather, according to the lowering. */
function emitGather(context: PtoContext): void {
  const { gather } = context.plan;
  invariant(gather !== undefined, "the kernel has a gather");
  if (gather.values !== undefined) {
    emitValues(context, gather);
    return;
  }
  switch (gather.lowering.class) {
    case "flat":
      emitFlat(context, gather);
      break;
    case "row-copy":
      emitRowCopy(context, gather);
      break;
    case "mgather":
      emitMgather(context, gather);
      break;
    case "row-fetch":
      emitRowFetch(context, gather);
      break;
    case "scalar":
      emitScalar(context, gather);
      break;
    case "direct":
      throw new InternalError("an Ascend target has no direct gather");
    default:
      assertNever(gather.lowering.class);
  }
}

const laggedSyncs = (func: TileFunc): SyncStmt[] =>
  flatten(func.body).filter((stmt): stmt is SyncStmt => stmt.op === "sync" && stmt.lag === 1);

/** Returns the counter of a sync with lag 1, and the first of its two events. */
function lagOf({ plan }: PtoContext, stmt: SyncStmt) {
  const first = plan.events.get(stmt);
  invariant(first !== undefined, "every sync has an event");
  return { counter: `sync${laggedSyncs(plan.func).indexOf(stmt)}`, first };
}

/**
 * Emits a sync between two hardware pipes (instruction queues) by event flags. A sync with lag 1 waits for
 * the flag of the previous execution, and alternates between two event ids.
 */
function emitSync(context: PtoContext, stmt: SyncStmt): void {
  const { out } = context;
  if (stmt.lag === 0) {
    context.flags(stmt.from, stmt.to, `EVENT_ID${context.plan.events.get(stmt) ?? 0}`);
    return;
  }
  const { counter, first } = lagOf(context, stmt);
  out.line(`set_flag(PIPE_${stmt.from}, PIPE_${stmt.to}, (event_t)(${first} + (${counter} & 1)));`);
  out.line(lastFlag(context, stmt));
  out.line(`${counter}++;`);
}

/** Waits for the flag of the run before the last. */
function lastFlag(context: PtoContext, stmt: SyncStmt): string {
  const { counter, first } = lagOf(context, stmt);
  return `if (${counter} > 0) wait_flag(PIPE_${stmt.from}, PIPE_${stmt.to}, (event_t)(${first} + ((${counter} - 1) & 1)));`;
}
