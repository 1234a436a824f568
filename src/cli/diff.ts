/** tilec diff: two programs, or what two pipelines make of one program, beside each other. */
import type { Command } from "commander";
import { counted, defined, type Func } from "../../ir/index.js";
import type { Pass } from "../../passes/index.js";
import { compile } from "../api/compile.js";
import { costOfProgram, type CostOrRefusal, type ProgramCost } from "../api/cost-of-program.js";
import { outputFormats } from "../output/mark.js";
import { comparedText } from "../report/compared-text.js";
import { renderCosts } from "../report/compared-costs.js";
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

/** Adds the command `tilec diff` and the command's flags to the command line. */
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

/** One function on a side of the comparison. */
interface Compared {
  readonly func: Func;
  /** Cost of the function, compiled as the side says. */
  readonly cost: () => CostOrRefusal;
}

/** One side of the comparison. */
interface Side {
  /** As it is typed: the file, or the list of the pipeline. */
  readonly name: string;
  /** Description of the side: the file, or the pipeline. */
  readonly title: string;
  readonly funcs: readonly Compared[];
}

/**
 * Prints the differences between two programs or between the results of two pipelines. Resolves to the exit
 * code: 0 for no difference, 1 for differences or if the page of `--html` is not written.
 */
async function diff(file: string | undefined, other: string | undefined, flags: DiffFlags): Promise<number> {
  const outputs = new Outputs("diff", flags);
  const [a, b] = await sidesOf(file, other, flags);
  outputs.check(flags.html, outputFormats.markup);
  const compared = inPairs(a.funcs, b.funcs).map(([before, after]) => ({
    name: (before ?? after)?.func.name ?? "",
    before: before?.func,
    after: after?.func,
    costs: [before?.cost(), after?.cost()] as const,
    text: comparedText(a.name, b.name, before?.func, after?.func),
  }));
  const different = compared.filter(({ text }) => text !== "");
  const titles = [a.title, b.title] as const;
  if (flags.html !== undefined) {
    const { comparedPage } = await import("../report/pass-page.js");
    outputs.write(flags.html, comparedPage(titles, compared), outputFormats.markup);
  }
  if (flags.json === true) {
    const programs = compared.map(({ name, text, costs: [costA, costB] }) => ({
      name,
      same: text === "",
      diff: text,
      ...defined({ a: figuresOf(costA), b: figuresOf(costB) }),
    }));
    printJson({ command: "diff", a: a.name, b: b.name, same: different.length === 0, programs });
  } else if (different.length > 0)
    print(
      different.map(({ name, costs, text }) => `${renderCosts(name, titles, costs)}\n\n${text}`).join("\n\n"),
    );
  return outputs.status(different.length === 0 ? 0 : 1);
}

/** Returns the figures of a cost; undefined for a program that is refused, or that a side lacks. */
const figuresOf = (cost: CostOrRefusal | undefined): ProgramCost | undefined =>
  cost?.ok === true ? { cycles: cost.cycles, bytes: cost.bytes } : undefined;

/**
 * Resolves to the two sides of a comparison: two programs, or one program compiled by two pipelines. Rejects
 * with a UsageError for other combinations of programs and `--pipeline`, and for `--target` without
 * `--pipeline`.
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
      `diff compares two programs or two pipelines of one program; there are ${given}`,
      "tilec diff A.tir B.tir, or tilec diff A.tir --pipeline default --pipeline LIST",
    );
  }
  if (lists.length === 0 && flags.target !== undefined)
    throw new UsageError(
      `--target ${flags.target} needs --pipeline: without a pipeline, diff compiles nothing`,
      "--pipeline default",
    );
  const passes = [...flags.project.passes, ...(await loadPasses(load))];
  const pipelines = lists.map((list) => passesOf("pipeline", list, passes));
  const sideOf = async (
    path: string | undefined,
    names: Pick<Side, "name" | "title">,
    passes: readonly Pass[] | undefined,
  ): Promise<Side> => {
    const programs = await loadPrograms(path, flags);
    return {
      ...names,
      funcs: programs.map(({ func }) => ({
        func: passes === undefined ? func : compiled(func, passes, flags),
        cost: () => costOfProgram(func, targeting(flags), passes),
      })),
    };
  };
  const ofFile = (path: string | undefined) => sideOf(path, { name: path ?? "", title: path ?? "" }, first);
  const ofPipeline = (list: string | undefined, passes: readonly Pass[] | undefined) =>
    sideOf(file, { name: list ?? "", title: `pipeline ${list ?? ""}` }, passes);
  const [first, second = first] = pipelines;
  return other === undefined
    ? [await ofPipeline(lists[0], first), await ofPipeline(lists[1], second)]
    : [await ofFile(file), await ofFile(other)];
}

const compiled = (func: Func, passes: readonly Pass[], flags: DiffFlags): Func =>
  compile(func, { ...targeting(flags), passes }).tile;

/**
 * Returns pairs of functions of equal name, one from `a` and one from `b`. A function without a counterpart
 * is paired with undefined. If both lists have exactly one function, these two form a pair whatever the
 * names.
 */
function inPairs(
  a: readonly Compared[],
  b: readonly Compared[],
): readonly (readonly [before: Compared | undefined, after: Compared | undefined])[] {
  if (a.length === 1 && b.length === 1) return [[a[0], b[0]]];
  const names = [...new Set([...a, ...b].map(({ func }) => func.name))];
  const named = (funcs: readonly Compared[], name: string): Compared | undefined =>
    funcs.find(({ func }) => func.name === name);
  return names.map((name) => [named(a, name), named(b, name)]);
}
