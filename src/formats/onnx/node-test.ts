/**
 * ONNX backend-test folders as cases: `model.onnx` and `test_data_set_<n>/{input,output}_<k>.pb`, as
 * onnx/onnx docs/OnnxBackendTest.md lays them out. `input_<k>.pb` is the graph's input k, initializers not
 * counted.
 */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { checkArgument } from "../../../ir/argument.js";
import { defined } from "../../../ir/defined.js";
import { existsSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { readBytes } from "../files.js";
import type { CaseTensor } from "../case-tensor.js";
import type { Case } from "../cases.js";
import type { TensorValue } from "../tensor.js";
import { modelError } from "./fail.js";
import { findGathers, fixedInputs, dynamicInputs } from "./gathers.js";
import type { OnnxModel } from "./model.js";
import { readModel } from "./read-model.js";
import { readTensorFile } from "./read-tensor.js";

const modelFile = "model.onnx";
const dataSet = /^test_data_set_\d+$/;
const dataFile = /^(test_data_set_\d+)\/(?:input|output)_\d+\.pb$/;

/** True if a folder is an ONNX backend test, that is, contains a model and at least one data set. */
export function isNodeTestFolder(path: string): boolean {
  checkArgument("isNodeTestFolder", "text", path);
  return existsSync(join(path, modelFile)) && entries(path).some((name) => dataSet.test(name));
}

/**
 * Returns the test cases of an ONNX backend-test folder. Throws a CompileError if a file cannot be read
 * (TC010) or the folder is not a valid backend test (TC014).
 */
export function readNodeTestFolder(path: string): Case[] {
  checkArgument("readNodeTestFolder", "text", path);
  const files = new Map([[modelFile, readBytes(join(path, modelFile))]]);
  for (const set of entries(path).filter((name) => dataSet.test(name))) {
    for (const name of entries(join(path, set))) {
      const inside = `${set}/${name}`;
      if (dataFile.test(inside)) files.set(inside, readBytes(join(path, set, name)));
    }
  }
  return readNodeTest(basename(resolve(path)), files);
}

/** Returns the names of the files and subfolders of a folder; an empty list if the folder cannot be read. */
function entries(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    // No folder, or not ours to read: nothing in it.
    return [];
  }
}

/**
 * Returns one test case for each data set of an ONNX backend test. `files` maps paths within the folder to
 * file contents. Throws a CompileError (TC014) if the test is not valid.
 */
export function readNodeTest(name: string, files: ReadonlyMap<string, Uint8Array>): Case[] {
  checkArgument("readNodeTest", "text", name);
  checkApiArgument("readNodeTest", "files", files);
  const bytes = files.get(modelFile);
  if (bytes === undefined) throw modelError(name, `it lacks ${modelFile}`);
  const model = readModel(bytes, `${name}/${modelFile}`);
  const sets = [...new Set([...files.keys()].flatMap((file) => dataFile.exec(file)?.[1] ?? []))];
  if (sets.length === 0) throw modelError(name, "it has no test_data_set_0");
  const numbered = sets.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return numbered.map((set) =>
    toCase(sets.length === 1 ? name : `${name}/${set}`, model, tensors(name, set, files)),
  );
}

type Tensors = (kind: "input" | "output", k: number) => TensorValue | undefined;

const tensors =
  (name: string, set: string, files: ReadonlyMap<string, Uint8Array>): Tensors =>
  (kind, k) => {
    const file = `${set}/${kind}_${k}.pb`;
    const bytes = files.get(file);
    return bytes === undefined ? undefined : readTensorFile(bytes, `${name}/${file}`).value;
  };

/**
 * Returns the test case of one data set: the gather of the model, the inputs, and the expected output if the
 * data set has one. Throws a CompileError (TC014) if the model does not have exactly one gather, if an input
 * is missing, or if the gather's output is not an output of the model.
 */
function toCase(id: string, model: OnnxModel, read: Tensors): Case {
  const { graph } = model;
  const given = graph.inputs.filter((input) => !graph.initializers.has(input.name));
  const values = new Map<string, TensorValue>();
  given.forEach((input, k) => {
    const value = read("input", k);
    if (value !== undefined) values.set(input.name, value);
  });
  const gathers = findGathers(model, { values });
  const [gather] = gathers;
  if (gather === undefined || gathers.length > 1) {
    throw modelError(id, `a case is one gather; the model has ${gathers.length}`);
  }
  if (!gather.ok) throw modelError(id, gather.diagnostic.message, gather.diagnostic.hint);
  const [missing] = dynamicInputs(gather);
  if (missing !== undefined)
    throw modelError(id, `nothing gives the gather its ${missing}`, "each graph input has an input_<k>.pb");
  const place = graph.outputs.findIndex((output) => output.name === gather.node.outputs[0]);
  if (place === -1) throw modelError(id, "the gather's output is none of the model's outputs");
  const output = read("output", place);
  return {
    id,
    // Bits alone are asked for: the target on which every gather has a legal schedule, as for case files.
    program: { ...gather.program, target: "webgpu" },
    options: { target: "webgpu" },
    inputs: Object.fromEntries(
      Object.entries(fixedInputs(gather)).map(([key, value]) => [key, caseTensor(value)]),
    ),
    ...defined({ output: output && caseTensor(output) }),
  };
}

const caseTensor = (value: TensorValue): CaseTensor => ({
  type: value.type,
  filled: false,
  read: () => value,
});
