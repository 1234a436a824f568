/** tilec diff: two programs, or what two pipelines make of one program, beside each other. */
import type { Command } from "commander";
import { counted, type Func } from "../../ir/index.js";
import type { Pass } from "../../passes/index.js";
import { compile } from "../api/compile.js";
import { outputFormats } from "../output/mark.js";
import { comparedText } from "../report/compared-text.js";
import { collect } from "./collect.js";
import { loadPrograms } from "./load.js";
import { addProgramOptions, projectOf, targeting, type ProgramFlags, type ProjectFlags } from "./options.js";
import { loadPasses, passesOf } from "./pipeline-flags.js";
import { addForce, Outputs, type OutputFlags } from "./outputs.js";
import { print, printJson } from "./terminal.js";
import { UsageError } from "./usage-error.js";

interface DiffFlags extends ProgramFlags, ProjectFlags, OutputFlags {
  readonly pipeline?: readonly string[];
  readonly load?: readonly string[];
  readonly html?: string;
  readonly json?: boolean;
}

/** Adds the command `tilec diff` with its flags to the command line. */
export function diffCommand(program: Command): void {
  addForce(addProgramOptions(program.command("diff")))
    .argument("[other]", "the program to compare with, as it is; or give --pipeline twice")
    .option(
      "--pipeline <list>",
      "compile by this pipeline before comparing; twice: one program by both",
      collect,
    )
    .option("--load <module>", "JavaScript module whose exports are passes", collect)
    .option("--html <file.html>", "the difference as one self-contained page")
    .option("--json", "print one JSON document")
    .action(
      async (
        file: string | undefined,
        other: string | undefined,
        given: Omit<DiffFlags, "project">,
        command: Command,
      ) => {
        process.exitCode = await diff(file, other, { ...given, project: await projectOf(command) });
      },
    );
}

/** One side of the comparison. */
interface Side {
  readonly name: string;
  readonly funcs: readonly Func[];
}

/**
 * Prints the differences between two programs, or between the results of two pipelines, and resolves to the
 * exit code. The code is 0 if there are none, 1 if there are some or the page of `--html` is not written.
 */
async function diff(file: string | undefined, other: string | undefined, flags: DiffFlags): Promise<number> {
  const outputs = new Outputs("diff", flags);
  const [a, b] = await sidesOf(file, other, flags);
  outputs.check(flags.html, outputFormats.markup);
  const compared = inPairs(a.funcs, b.funcs).map(([before, after]) => ({
    name: (before ?? after)?.name ?? "",
    before,
    after,
    text: comparedText(a.name, b.name, before, after),
  }));
  const different = compared.filter(({ text }) => text !== "");
  if (flags.html !== undefined) {
    const { comparedPage } = await import("../report/pass-page.js");
    outputs.write(flags.html, comparedPage(`${a.name} and ${b.name}`, compared), outputFormats.markup);
  }
  if (flags.json === true) {
    const programs = compared.map(({ name, text }) => ({ name, same: text === "", diff: text }));
    printJson({ command: "diff", a: a.name, b: b.name, same: different.length === 0, programs });
  } else if (different.length > 0) print(different.map(({ text }) => text).join("\n"));
  return outputs.status(different.length === 0 ? 0 : 1);
}

/**
 * Resolves to the two sides of a comparison: two programs, or one program compiled by two pipelines. Rejects
 * with a UsageError for other combinations of programs and `--pipeline`.
 */
async function sidesOf(
  file: string | undefined,
  other: string | undefined,
  flags: DiffFlags,
): Promise<readonly [Side, Side]> {
  const { pipeline: lists = [], load = [] } = flags;
  if (other === undefined ? lists.length !== 2 : lists.length > 1) {
    const given = `${other === undefined ? "one program" : "two programs"} and ${counted(lists.length, "pipeline")}`;
    throw new UsageError(
      `diff compares two sides, and there are ${given}`,
      "tilec diff A.tir B.tir, or tilec diff A.tir --pipeline default --pipeline LIST",
    );
  }
  if (lists.length === 0 && flags.target !== undefined)
    throw new UsageError(
      `--target ${flags.target} compiles, and programs are compared as they are`,
      "--pipeline default",
    );
  const passes = [...flags.project.passes, ...(await loadPasses(load))];
  const pipelines = lists.map((list) => passesOf("pipeline", list, passes));
  const sideOf = async (path: string | undefined, name: string, passes: readonly Pass[] | undefined) => {
    const programs = await loadPrograms(path, flags);
    return {
      name,
      funcs: programs.map(({ func }) => (passes === undefined ? func : compiled(func, passes, flags))),
    };
  };
  const [first, second = first] = pipelines;
  return other === undefined
    ? [await sideOf(file, lists[0] ?? "", first), await sideOf(file, lists[1] ?? "", second)]
    : [await sideOf(file, file ?? "", first), await sideOf(other, other, first)];
}

const compiled = (func: Func, passes: readonly Pass[], flags: DiffFlags): Func =>
  compile(func, { ...targeting(flags), passes }).tile;

/**
 * Returns pairs of functions with equal names; a member is undefined if that side has no such function. If
 * each side has exactly one function, the two form a pair whatever their names.
 */
function inPairs(
  a: readonly Func[],
  b: readonly Func[],
): readonly (readonly [before: Func | undefined, after: Func | undefined])[] {
  if (a.length === 1 && b.length === 1) return [[a[0], b[0]]];
  const names = [...new Set([...a, ...b].map(({ name }) => name))];
  const named = (funcs: readonly Func[], name: string): Func | undefined =>
    funcs.find((func) => func.name === name);
  return names.map((name) => [named(a, name), named(b, name)]);
}
