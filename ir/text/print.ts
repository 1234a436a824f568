/** IR to text. Every form printed here parses back to an equal value (see parse.ts, and docs/ir.md). */
import type { AccessMap, DimAccess } from "../access.js";
import type { IndexExpr } from "../expr.js";
import type { AccessFunc, Attrs, Func, Module, SourceFunc, TileFunc, Value } from "../func.js";
import type { Schedule } from "../schedule.js";
import type { Region, Stmt, UbBuffer } from "../tile.js";
import { assertNever, formatShape, formatType } from "../types.js";

export const printModule = (module: Module): string => module.funcs.map(printFunc).join("\n");

export function printFunc(func: Func): string {
  switch (func.level) {
    case "source":
      return printSource(func);
    case "access":
      return printAccess(func);
    case "tile":
      return printTile(func);
    default:
      return assertNever(func);
  }
}

function printSource(func: SourceFunc): string {
  const { data, indices, output } = func;
  const op = `  %${output.name} = ${func.op} %${data.name}, %${indices.name}${printAttrs(func.attrs)}`;
  return `${printTensorHead(func)} {\n${op}\n  return %${output.name}\n}\n`;
}

function printAccess(func: AccessFunc): string {
  const { data, indices, output } = func;
  const attrs = [
    `oob = ${func.oob}`,
    ...(func.paired.length === 0 ? [] : [`paired = ${formatShape(func.paired)}`]),
    ...(func.tiles === undefined
      ? []
      : [`data_tile = ${formatShape(func.tiles.data)}`, `indices_tile = ${formatShape(func.tiles.indices)}`]),
  ];
  const op =
    `  %${output.name} = access.gather %${data.name}, %${indices.name} ` +
    `${printMap(func.map, indices.name)} {${attrs.join(", ")}}`;
  return `${printTensorHead(func)} {\n${op}\n  return %${output.name}\n}\n`;
}

function printTensorHead(func: SourceFunc | AccessFunc): string {
  const param = (value: Value): string => `%${value.name}: tensor<${formatType(value.type)}>`;
  const result = `tensor<${formatType(func.output.type)}>`;
  return `func @${func.name}(${param(func.data)}, ${param(func.indices)}) -> ${result}${printTail(func)}`;
}

function printTile(func: TileFunc): string {
  const param = (value: Value): string => `%${value.name}: gm<${formatType(value.type)}>`;
  const params = [func.data, func.indices, func.output].map(param).join(", ");
  const body = func.body.flatMap((stmt) => printStmt(stmt, "  "));
  return [`func @${func.name}(${params})${printTail(func)} {`, ...body, "}", ""].join("\n");
}

function printTail(func: Func): string {
  const target = func.target === undefined ? "" : ` target("${func.target}")`;
  const schedule = printSchedule(func.schedule);
  return target + (schedule === "" ? "" : ` schedule {${schedule}}`);
}

/** `tile = [8, 64], profile = strict`: what a user would write, in a fixed order. */
export function printSchedule(schedule: Schedule): string {
  const entries: (readonly [string, string | undefined])[] = [
    ["tile", schedule.tile && formatShape(schedule.tile)],
    ["view", schedule.view && formatShape(schedule.view)],
    ["profile", schedule.profile],
    ["residency", schedule.residency],
    ["order", schedule.order && formatShape(schedule.order)],
    ["buffers", schedule.buffers?.toString()],
    ["cores", schedule.cores?.toString()],
    ["budget_rule", schedule.budgetRule],
    ["ub_bytes", schedule.ubBytes?.toString()],
  ];
  return entries.flatMap(([name, value]) => (value === undefined ? [] : [`${name} = ${value}`])).join(", ");
}

function printAttrs(attrs: Attrs): string {
  const entries = Object.entries(attrs).map(([name, value]) => {
    if (typeof value === "number") return `${name} = ${value}`;
    return typeof value === "string" ? `${name} = "${value}"` : `${name} = ${formatShape(value)}`;
  });
  return entries.length === 0 ? "" : ` {${entries.join(", ")}}`;
}

/** `(d0, d1) -> (from_end(%i[d0, d1]), d1)` */
export function printMap(map: AccessMap, indices: string): string {
  const dims = Array.from({ length: map.outRank }, (_, d) => `d${d}`).join(", ");
  return `(${dims}) -> (${map.results.map((access) => printDimAccess(access, indices)).join(", ")})`;
}

function printDimAccess(access: DimAccess, indices: string): string {
  if (access.kind === "direct") return `d${access.dim}`;
  const coords = access.at.map((c) => (c.kind === "dim" ? `d${c.dim}` : String(c.value))).join(", ");
  const read = `%${indices}[${coords}]`;
  return access.negative === "from-end" ? `from_end(${read})` : read;
}

export function printExpr(expr: IndexExpr): string {
  switch (expr.kind) {
    case "const":
      return String(expr.value);
    case "iv":
      return `%${expr.name}`;
    case "add":
      return `${printExpr(expr.lhs)} + ${printTerm(expr.rhs)}`;
    case "sub":
      return `${printExpr(expr.lhs)} - ${printTerm(expr.rhs)}`;
    case "min":
      return `min(${printExpr(expr.lhs)}, ${printExpr(expr.rhs)})`;
    default:
      return assertNever(expr);
  }
}

/** Sums associate to the left, so only a right operand needs parentheses. */
const printTerm = (expr: IndexExpr): string =>
  expr.kind === "add" || expr.kind === "sub" ? `(${printExpr(expr)})` : printExpr(expr);

const printList = (exprs: readonly IndexExpr[]): string => `[${exprs.map(printExpr).join(", ")}]`;

/** `%x[%t0, 0][64, 16]`: offsets, then sizes, as MLIR's subviews. */
export const printRegion = (region: Region): string =>
  `%${region.buffer}${printList(region.offsets)}${printList(region.sizes)}`;

const printUbType = (buffer: UbBuffer): string =>
  `ub<${formatType(buffer)}, row ${buffer.rowBytes}${buffer.buffers === 2 ? ", buffers 2" : ""}>`;

/** One statement without its body: what a report or a generated comment shows. */
export function printStmtHead(stmt: Stmt): string {
  switch (stmt.op) {
    case "for": {
      const range = `${printExpr(stmt.lower)} to ${printExpr(stmt.upper)} step ${stmt.step}`;
      return `for %${stmt.iv} = ${range} ${stmt.mode}`;
    }
    case "alloc": {
      const place = stmt.buffer.addresses === undefined ? "" : ` at ${formatShape(stmt.buffer.addresses)}`;
      return `%${stmt.buffer.name} = alloc : ${printUbType(stmt.buffer)}${place}`;
    }
    case "load":
      return `load ${printRegion(stmt.from)} to %${stmt.to}`;
    case "gather": {
      const scratch = stmt.scratch === undefined ? "" : `, scratch = %${stmt.scratch}`;
      return (
        `gather ${printRegion(stmt.data)}, ${printRegion(stmt.indices)} to ${printRegion(stmt.to)} ` +
        `${printMap(stmt.map, stmt.indices.buffer)} {oob = ${stmt.oob}, origin = ${printList(stmt.origin)}${scratch}}`
      );
    }
    case "store":
      return `store %${stmt.from} to ${printRegion(stmt.to)}`;
    case "sync":
      return `sync ${stmt.from} -> ${stmt.to}${stmt.lag === 0 ? "" : ` lag ${stmt.lag}`}`;
    default:
      return assertNever(stmt);
  }
}

function printStmt(stmt: Stmt, indent: string): string[] {
  const head = indent + printStmtHead(stmt);
  if (stmt.op !== "for") return [head];
  return [`${head} {`, ...stmt.body.flatMap((inner) => printStmt(inner, `${indent}  `)), `${indent}}`];
}
