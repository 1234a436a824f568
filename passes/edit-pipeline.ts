/** Pipelines of one's own: names in order, or edits of the default pipeline, as text and as data. */
import { checkArgument } from "../ir/argument.js";
import { CompileError, error } from "../ir/diagnostic.js";
import { defaultPipeline } from "./default-pipeline.js";
import type { Pass } from "./pass.js";

/**
 * Change to a pipeline: an inserted pass (`after` or `before`), a replaced pass (`insteadOf`), an appended
 * pass, or a removed pass (`no`).
 */
export type PipelineEdit =
  | { readonly pass: Pass; readonly after: string }
  | { readonly pass: Pass; readonly before: string }
  | { readonly pass: Pass; readonly insteadOf: string }
  | { readonly pass: Pass }
  | { readonly no: string };

/** True if a list of passes equals the default pipeline, including the order. */
export const isDefaultPipeline = (passes: readonly Pass[]): boolean =>
  passes.length === defaultPipeline.length && passes.every((pass, k) => pass === defaultPipeline[k]);

const refusal = (message: string, hint: string): CompileError =>
  new CompileError([error("TC702", message, { hint })]);

const namesOf = (passes: readonly Pass[]): string => passes.map(({ name }) => name).join(", ");

/**
 * Returns the index of the only pass with a name. Throws a CompileError (TC702) if no pass or several passes
 * have the name.
 */
function placeOf(name: string, passes: readonly Pass[]): number {
  const place = passes.findIndex((pass) => pass.name === name);
  if (place === -1) throw refusal(`the pipeline has no pass ${name}`, namesOf(passes));
  if (passes.some((pass, k) => k > place && pass.name === name))
    throw refusal(
      `the pipeline runs ${name} twice`,
      "list the passes in order instead of editing the default",
    );
  return place;
}

/**
 * Returns the list of passes after one edit. Throws a CompileError (TC702) if the edit names a pass that is
 * absent or occurs twice.
 */
function edited(passes: readonly Pass[], edit: PipelineEdit): readonly Pass[] {
  if ("no" in edit) return passes.toSpliced(placeOf(edit.no, passes), 1);
  const { pass } = edit;
  if ("after" in edit) return passes.toSpliced(placeOf(edit.after, passes) + 1, 0, pass);
  if ("before" in edit) return passes.toSpliced(placeOf(edit.before, passes), 0, pass);
  if ("insteadOf" in edit) return passes.toSpliced(placeOf(edit.insteadOf, passes), 1, pass);
  return [...passes, pass];
}

/**
 * Returns a pipeline after edits in order; without `pipeline`, the default pipeline is edited. Throws a
 * CompileError (TC702) if an edit names a pass that is absent or occurs twice.
 */
export const editPipeline = (
  edits: readonly PipelineEdit[],
  pipeline: readonly Pass[] = defaultPipeline,
): readonly Pass[] => {
  checkArgument("editPipeline", "list", edits);
  checkArgument("editPipeline", "list", pipeline);
  return edits.reduce(edited, pipeline);
};

const grammar =
  "names in order, or `default` and edits: mine after P, mine before P, mine instead of P, no P";
/** Words of the grammar. */
const words: readonly string[] = ["default", "no", "after", "before", "instead", "of"];

/**
 * Throws a CompileError (TC702) if the name of a pass cannot be used in the text of a pipeline. Invalid names
 * are keywords, names with several words or a comma, and names already in use.
 */
export function checkPassNames(passes: readonly Pass[]): void {
  checkArgument("checkPassNames", "list", passes);
  const taken = new Map(defaultPipeline.map((pass) => [pass.name, pass]));
  for (const pass of passes) {
    const { name } = pass;
    const file = pass.origin === undefined ? "" : `${pass.origin.file}: `;
    if (words.includes(name) || !/^[^\s,]+$/.test(name))
      throw refusal(
        `${file}a pass cannot be named ${JSON.stringify(name)}`,
        "one word, such as whole-blocks",
      );
    const other = taken.get(name);
    if (other !== undefined && other !== pass)
      throw refusal(`${file}there are two passes of the name ${name}`, "rename one of the two");
    taken.set(name, pass);
  }
}

/**
 * Returns the passes that a pipeline text names: a list (`canonicalize-access, mine, lower-to-tile`) or edits
 * (`default, mine after select-tile`). Throws a CompileError (TC702) for invalid text and invalid names of
 * `extra` passes.
 */
export function parsePipeline(list: string, extra: readonly Pass[] = []): readonly Pass[] {
  checkArgument("parsePipeline", "text", list);
  checkPassNames(extra);
  const passes = [...defaultPipeline, ...extra];
  const find = (name: string): Pass => {
    const pass = passes.find((other) => other.name === name);
    if (pass === undefined) throw refusal(`there is no pass ${name}`, namesOf([...new Set(passes)]));
    return pass;
  };
  const items = list.split(",").map((item) => item.trim().split(/\s+/));
  const [[start] = []] = items;
  const edits = start === "default" && items[0]?.length === 1;
  return editPipeline(
    items.slice(edits ? 1 : 0).map((item) => {
      const edit = editOf(item, find);
      if (!edits && Object.keys(edit).join() !== "pass")
        throw refusal(`${item.join(" ")} edits the default pipeline`, `default, ${item.join(" ")}`);
      return edit;
    }),
    edits ? defaultPipeline : [],
  );
}

/**
 * Returns the edit for one item of a pipeline text, such as `mine after select-tile`. `item`: the item's
 * words. `find`: returns the pass of a name. Throws a CompileError (TC702) for an invalid item.
 */
function editOf(item: readonly string[], find: (name: string) => Pass): PipelineEdit {
  const text = item.join(" ");
  const [, name = "", relation, place = ""] =
    /^(\S+) (after|before|instead of) (\S+)$/.exec(text) ?? /^(\S+)$/.exec(text) ?? [];
  const [, left] = /^no (\S+)$/.exec(text) ?? [];
  if (left !== undefined) return { no: left };
  if (name === "" || name === "default")
    throw refusal(`${text === "" ? "an empty text" : text} is not an entry of a pipeline`, grammar);
  const pass = find(name);
  if (relation === "after") return { pass, after: place };
  if (relation === "before") return { pass, before: place };
  return relation === undefined ? { pass } : { pass, insteadOf: place };
}
