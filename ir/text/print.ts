/** IR to text. Every form printed here parses back to an equal value (see parse.ts, and docs/ir.md). */
import { policyOf, type AccessMap, type Site } from "../access.js";
import {
  inputsOf,
  outputOf,
  type AccessFunc,
  type Attrs,
  type Func,
  type Module,
  type SourceFunc,
  type TileFunc,
  type Value,
} from "../func.js";
import type { Atom, Linear, Term } from "../linear.js";
import type { Buffers, Schedule } from "../schedule.js";
import type { Region, Stmt, UbBuffer } from "../tile.js";
import { assertNever, at, formatShape, formatType } from "../types.js";

/** The canonical text of a module; it parses back to an equal value. */
export const printModule = (module: Module): string => module.funcs.map(printFunc).join("\n");

/** The canonical text of a function; it parses back to an equal value. */
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
  const output = outputOf(func).name;
  const op = `  %${output} = ${func.op} ${printNames(inputsOf(func))}${printAttrs(func.attrs)}`;
  return `${printTensorHead(func)} {\n${op}\n  return %${output}\n}\n`;
}

function printAccess(func: AccessFunc): string {
  const output = outputOf(func).name;
  const inputs = inputsOf(func);
  const tiles = func.tiles?.map((tile, k) => `${at(inputs, k).role}_tile = ${formatShape(tile)}`) ?? [];
  const attrs = [
    `oob = ${policyOf(func.map)}`,
    ...(func.paired.length === 0 ? [] : [`paired = ${formatShape(func.paired)}`]),
    ...tiles,
  ];
  const names = inputs.map((input) => input.name);
  const op =
    `  %${output} = access.gather ${printNames(inputs)} ` +
    `${printMap(func.map, names)} {${attrs.join(", ")}}`;
  return `${printTensorHead(func)} {\n${op}\n  return %${output}\n}\n`;
}

const printNames = (values: readonly Value[]): string => values.map(({ name }) => `%${name}`).join(", ");

function printTensorHead(func: SourceFunc | AccessFunc): string {
  const params = inputsOf(func).map((value) => `%${value.name}: tensor<${formatType(value.type)}>`);
  const result = `tensor<${formatType(outputOf(func).type)}>`;
  return `func @${func.name}(${params.join(", ")}) -> ${result}${printTail(func)}`;
}

function printTile(func: TileFunc): string {
  const params = func.operands.map((value) => `%${value.name}: gm<${formatType(value.type)}>`);
  const body = func.body.flatMap((stmt) => printStmt(stmt, "  "));
  return [`func @${func.name}(${params.join(", ")})${printTail(func)} {`, ...body, "}", ""].join("\n");
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
    ["buffers", schedule.buffers === undefined ? undefined : printBuffers(schedule.buffers)],
    ["cores", schedule.cores?.toString()],
    ["budget_rule", schedule.budgetRule],
    ["ub_bytes", schedule.ubBytes?.toString()],
  ];
  return entries.flatMap(([name, value]) => (value === undefined ? [] : [`${name} = ${value}`])).join(", ");
}

/** `2`, or `{indices = 2, output = 2}` */
function printBuffers(buffers: Buffers): string {
  if (typeof buffers === "number") return buffers.toString();
  return `{${Object.entries(buffers)
    .map(([operand, copies]) => `${operand} = ${copies}`)
    .join(", ")}}`;
}

function printAttrs(attrs: Attrs): string {
  const entries = Object.entries(attrs).map(([name, value]) => {
    if (typeof value === "number") return `${name} = ${value}`;
    return typeof value === "string" ? `${name} = "${value}"` : `${name} = ${formatShape(value)}`;
  });
  return entries.length === 0 ? "" : ` {${entries.join(", ")}}`;
}

/** `(d0, d1) -> (from_end(%i[d0, d1]), d1)`; `names` are the tables' by number. */
export function printMap(map: AccessMap, names: readonly string[]): string {
  const dims = Array.from({ length: map.outRank }, (_, d) => `d${d}`).join(", ");
  const sites = map.sites.reduce<string[]>((done, site) => [...done, printSite(site, names, done)], []);
  return `(${dims}) -> (${map.results.map((result) => printLinear(result, sites)).join(", ")})`;
}

function printSite({ value, fromEnd }: Site, names: readonly string[], inner: readonly string[]): string {
  const coords = value.at.map((coord) => printLinear(coord, inner)).join(", ");
  const read = `%${at(names, value.table)}[${coords}]`;
  return fromEnd === undefined ? read : `from_end(${read})`;
}

/** What is added, then the constant, then what is taken away. `sites` are the texts of a map's sites. */
export function printLinear(form: Linear, sites: readonly string[] = []): string {
  const added = form.terms.filter((term) => term.by > 0);
  const taken = form.terms.filter((term) => term.by < 0);
  const head = added.map((term) => printTerm(term, sites)).join(" + ");
  const whole =
    form.at === 0 ? "" : head === "" ? String(form.at) : ` ${form.at < 0 ? "-" : "+"} ${Math.abs(form.at)}`;
  const tail = taken.map((term) => ` - ${printTerm({ ...term, by: -term.by }, sites)}`).join("");
  return `${head}${whole}` === "" ? `0${tail}` : `${head}${whole}${tail}`;
}

const printTerm = ({ by, of }: Term, sites: readonly string[]): string =>
  by === 1 ? printAtom(of, sites) : `${by} * ${printAtom(of, sites)}`;

function printAtom(of: Atom, sites: readonly string[]): string {
  switch (of.kind) {
    case "dim":
      return `d${of.dim}`;
    case "site":
      return at(sites, of.site);
    case "iv":
      return `%${of.name}`;
    case "min":
      return `min(${of.of.map((side) => printLinear(side, sites)).join(", ")})`;
    default:
      return assertNever(of);
  }
}

const printList = (forms: readonly Linear[]): string =>
  `[${forms.map((form) => printLinear(form)).join(", ")}]`;

/** `%x[%t0, 0][64, 16]`: offsets, then sizes, as MLIR's subviews. */
export const printRegion = (region: Region): string =>
  `%${region.buffer}${printList(region.offsets)}${printList(region.sizes)}`;

const printUbType = (buffer: UbBuffer): string =>
  `ub<${formatType(buffer)}, row ${buffer.rowBytes}${buffer.buffers === 2 ? ", buffers 2" : ""}>`;

/** One statement without its body: what a report or a generated comment shows. */
export function printStmtHead(stmt: Stmt): string {
  switch (stmt.op) {
    case "for": {
      const range = `${printLinear(stmt.lower)} to ${printLinear(stmt.upper)} step ${stmt.step}`;
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
      const names = stmt.from.map((region) => region.buffer);
      const origins = stmt.origins.map(printList).join(", ");
      return (
        `gather ${stmt.from.map(printRegion).join(", ")} to ${printRegion(stmt.to)} ` +
        `${printMap(stmt.map, names)} {oob = ${policyOf(stmt.map)}, origin = ${origins}${scratch}}`
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
