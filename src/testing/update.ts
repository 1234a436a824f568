/**
 * Rewriting of test files to match the actual results: outputs and limits of cases, and CHECK lines. All
 * other text is unchanged.
 */
import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  parseTree,
  type JSONPath,
  type Node,
} from "jsonc-parser";
import { clockVersion } from "../../ir/index.js";
import type { LimitsJson, TensorJson } from "../formats/case-schema.js";
import { parseChecks } from "./filecheck.js";
import type { Measured } from "./measured.js";
import { checkedRuns, type TextTestOptions } from "./text-test.js";
import { tensorJson } from "../formats/tensor-json.js";
import type { TensorValue } from "../formats/tensor.js";

interface LimitNodes {
  readonly path: JSONPath;
  readonly node: Node;
}

/**
 * Returns the JSON path and the syntax tree node of the test case with the given id. Returns undefined if
 * `text` is not valid JSON or has no test case with the id.
 */
function caseOf(text: string, id: string): LimitNodes | undefined {
  const root = parseTree(text);
  if (root === undefined) return undefined;
  return casePaths(root)
    .flatMap((path): LimitNodes[] => {
      const node = findNodeAtLocation(root, path);
      return node === undefined ? [] : [{ path, node }];
    })
    .find(({ node }) => valueAt(node, "id") === id);
}

/**
 * Returns the text of a test file in which the exceeded limits of one test case are raised to the given
 * values. Returns `text` unchanged if the test case does not exist or has no limits.
 */
export function withLimits(text: string, id: string, figures: Measured): string {
  const test = caseOf(text, id);
  const stated = test === undefined ? undefined : valueAt(test.node, "limits");
  if (test === undefined || typeof stated !== "object" || stated === null) return text;
  let next = text;
  for (const name of ["bytes", "ubPeak", "cycles"] as const) {
    const limit = (stated as LimitsJson)[name];
    if (limit === undefined || figures[name] <= limit) continue;
    next = applyEdits(next, modify(next, [...test.path, "limits", name], figures[name], {}));
    if (name === "cycles")
      next = applyEdits(next, modify(next, [...test.path, "limits", "clock"], clockVersion, {}));
  }
  return next;
}

/**
 * Returns the text of a test file in which the expected output of one test case is replaced by `output`.
 * Returns undefined if the test case does not exist or does not list the output's elements.
 */
export function withCaseOutput(text: string, id: string, output: TensorValue): string | undefined {
  const test = caseOf(text, id);
  if (test === undefined) return undefined;
  const { path, node } = test;
  const stated = valueAt(node, "output");
  if (typeof stated !== "object" || stated === null || "fill" in stated) return undefined;
  const json = tensorJson(output, "bits" in stated ? "bits" : "values");
  const key = json.bits === undefined ? "values" : "bits";
  if (!(key in stated)) return applyEdits(text, modify(text, [...path, "output"], json, {}));
  let next = text;
  for (const field of ["dtype", "shape", key] as const) {
    if (JSON.stringify((stated as TensorJson)[field]) === JSON.stringify(json[field])) continue;
    next = applyEdits(next, modify(next, [...path, "output", field], json[field], {}));
  }
  return next;
}

function valueAt(node: Node, key: string): unknown {
  const child = findNodeAtLocation(node, [key]);
  return child === undefined ? undefined : (getNodeValue(child) as unknown);
}

/** Returns a list, `{cases}`, or a case alone. */
function casePaths(root: Node): JSONPath[] {
  const cases = root.type === "array" ? root : findNodeAtLocation(root, ["cases"]);
  const around: JSONPath = root.type === "array" ? [] : ["cases"];
  return cases === undefined ? [[]] : (cases.children ?? []).map((_, k) => [...around, k]);
}

/**
 * Returns the text of a text test in which each CHECK pattern without a match is replaced by the nearest line
 * of the output. Other failing checks are unchanged.
 */
export function withChecks(source: string, file: string, options: TextTestOptions = {}): string {
  let text = source;
  for (let left = parseChecks(source).length; left > 0; left--) {
    const failure = checkedRuns(text, file, options).find(
      ({ nearest }) => nearest !== undefined && nearest !== "",
    );
    if (failure?.nearest === undefined) break;
    const lines = text.split("\n");
    const guilty = lines[failure.line - 1] ?? "";
    lines[failure.line - 1] = guilty.replace(
      /(\/\/\s*CHECK(?:-[\w-]+)?:)[^\r]*/,
      (_, head: string) => `${head} ${failure.nearest ?? ""}`,
    );
    if (lines[failure.line - 1] === guilty) break;
    text = lines.join("\n");
  }
  return text;
}
