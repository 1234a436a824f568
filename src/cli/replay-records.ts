/**
 * Schedules of records in place of a program's own; apart, since a command seldom needs what hashes gathers.
 */
import {
  defined,
  maxSizes,
  bindSome,
  CompileError,
  dynamicSymbols,
  type Func,
  type Sizes,
} from "../../ir/index.js";
import { accessOf } from "../api/access.js";
import { resolveTargetOf, type CompileOptions } from "../api/compile.js";
import { pieceAt, pieceTable } from "../api/pieces.js";
import { readRecords } from "../formats/record-file.js";
import { gatherHash } from "../tune/records/record.js";
import { ofAnotherTask, replayed } from "../tune/records/replay.js";
import type { LoadedProgram } from "./loaded-program.js";
import { note, printDiagnostics } from "./terminal.js";

/**
 * Returns a program with the best schedule that a file of tuning records has for the program and the compiler
 * options. If the file has no such schedule, prints a warning and returns the program unchanged; throws a
 * CompileError (TC017) instead if `strict` is true.
 */
export function replay(
  { func, unbound }: LoadedProgram,
  file: string,
  { strict }: { readonly strict?: boolean },
  options: CompileOptions,
): Func {
  const passes = defined({ passes: options.passes });
  const { records } = readRecords(file);
  const { func: program, sizes } = unbound ?? { func, sizes: maxSizes(dynamicSymbols(func)) };
  const target = resolveTargetOf(func, options);
  const tables = familiesOf(program, sizes).flatMap((family) => {
    const access = accessOf(family, options);
    return (access && pieceTable(records, access, target)) ?? [];
  });
  const [table] = tables;
  const piece = table === undefined ? undefined : pieceAt(table.pieces, sizes[table.symbol]);
  if (table !== undefined && piece !== undefined) {
    note(`@${func.name}: the schedule of ${file} for ${table.symbol} from ${piece.from} to ${piece.to}`);
    return { ...func, schedule: piece.schedule };
  }
  const gather = accessOf(func, options);
  const best =
    gather === undefined ? undefined : replayed(records, gatherHash({ gather, target, ...passes }));
  if (best !== undefined) {
    note(`@${func.name}: the schedule of ${file}, found by ${best.task.objective}`);
    return { ...func, schedule: best.best.given ?? best.best.schedule };
  }
  const other = ofAnotherTask(file, func.name);
  if (strict === true) throw new CompileError([other]);
  printDiagnostics([{ ...other, severity: "warning" }]);
  return func;
}

/**
 * Returns variants of a program with one unbound symbol each: all other symbols are bound to `sizes`.
 * Variants that cannot be bound are left out. A program with at most one symbol is returned unchanged, as the
 * only variant.
 */
function familiesOf(program: Func, sizes: Sizes): readonly Func[] {
  const symbols = dynamicSymbols(program);
  if (symbols.length < 2) return [program];
  return symbols.flatMap(({ name }) => {
    const { [name]: _, ...others } = sizes;
    const bound = bindSome(program, others);
    return bound.ok ? [bound.func] : [];
  });
}
