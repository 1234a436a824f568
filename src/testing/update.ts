/** What a test file would say if what is there were right: outputs of cases and CHECK lines rewritten, all else untouched. */
import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  parseTree,
  type JSONPath,
  type Node,
} from "jsonc-parser";
import { parseChecks } from "./filecheck.js";
import { checkedRuns, type TextTestOptions } from "./text-test.js";
import { tensorJson } from "../formats/tensor-json.js";
import type { TensorValue } from "../formats/tensor.js";

/** The text with another output for the case of that id; undefined where it states none, or states it as a fill. */
export function withOutput(text: string, id: string, output: TensorValue): string | undefined {
  const root = parseTree(text);
  if (root === undefined) return undefined;
  for (const path of casePaths(root)) {
    const found = findNodeAtLocation(root, path);
    if (found === undefined || valueAt(found, "id") !== id) continue;
    const stated = valueAt(found, "output");
    if (typeof stated !== "object" || stated === null || "fill" in stated) return undefined;
    const json = tensorJson(output, "bits" in stated ? "bits" : "values");
    const key = json.bits === undefined ? "values" : "bits";
    const same = key in stated;
    const edits = same
      ? modify(text, [...path, "output", key], json[key], {})
      : modify(text, [...path, "output"], json, {});
    return applyEdits(text, edits);
  }
  return undefined;
}

function valueAt(node: Node, key: string): unknown {
  const found = findNodeAtLocation(node, [key]);
  return found === undefined ? undefined : (getNodeValue(found) as unknown);
}

/** A list, `{cases}`, or a case alone. */
function casePaths(root: Node): JSONPath[] {
  const cases = root.type === "array" ? root : findNodeAtLocation(root, ["cases"]);
  const around: JSONPath = root.type === "array" ? [] : ["cases"];
  return cases === undefined ? [[]] : (cases.children ?? []).map((_, k) => [...around, k]);
}

/**
 * A text test whose CHECK lines that find nothing look for the nearest line in their place. A check that fails for another reason
 * (another line, a CHECK-NOT that finds something, an exit code) stays as it is.
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
      /(\/\/\s*CHECK(?:-\w+)?:).*$/,
      (_, head: string) => `${head} ${failure.nearest ?? ""}`,
    );
    if (lines[failure.line - 1] === guilty) break;
    text = lines.join("\n");
  }
  return text;
}
