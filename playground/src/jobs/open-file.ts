/** A file that was dropped on the page, as programs and inputs. */
import {
  CompileError,
  bytesOf,
  entryOf,
  error,
  formatType,
  inputsOf,
  isIndexDType,
  keyOf,
  printFunc,
  UniqueNames,
  type Func,
  type Operand,
} from "../../../ir/index.js";
import { tryProgram } from "../../../src/api/program.js";
import { caseProgram } from "../../../src/formats/case-program.js";
import { readCaseList } from "../../../src/formats/cases.js";
import { readNpy } from "../../../src/formats/npy.js";
import { findGathers, fixedInputs } from "../../../src/formats/onnx/gathers.js";
import { readModel } from "../../../src/formats/onnx/read-model.js";
import type { TensorValue } from "../../../src/formats/tensor.js";
import { maxText, type Inputs } from "../page-state.js";
import type { Opened, Work } from "./messages.js";
import { edited, funcOf } from "./program.js";
import { typeText } from "./show.js";

/** Programs of one file that the page shows. */
const mostPrograms = 100;

/**
 * Returns the programs and input tensors of a dropped file: `.tir`, `.onnx`, `.npy` or test cases in JSON
 * (`.json`). Throws a CompileError if the file has another extension, is malformed or is too large.
 */
export function openFile({ name, bytes, ...asked }: Work["open"]["ask"]): Opened {
  const ending = name.slice(name.lastIndexOf(".")).toLowerCase();
  switch (ending) {
    case ".tir":
      return { text: textOf(name, bytes), inputs: {}, notes: [] };
    case ".json":
      return openedCases(textOf(name, bytes), name);
    case ".onnx":
      return openedModel(bytes, name);
    case ".npy":
      return openedArray(asked, readNpy(bytes, name), name);
    default:
      throw new CompileError([
        error("TC010", `${name} is no file that this page reads`, {
          hint: "drop a .tir, .onnx, .npy or case file (.json)",
        }),
      ]);
  }
}

/**
 * Decodes a file as UTF-8 text. Throws a CompileError (TC010) if a file other than `.json` has more than
 * {@link maxText} characters.
 */
function textOf(name: string, bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  if (text.length <= maxText || name.endsWith(".json")) return text;
  throw new CompileError([
    error("TC010", `${name} holds ${text.length} characters; this page shows up to ${maxText}`),
  ]);
}

interface Found {
  readonly func: Func;
  readonly inputs: Inputs;
}

/**
 * Joins the first 100 programs of a file into one program text, with the input tensors by function name. A
 * note gives the number of programs if there are more than 100.
 */
function opened(found: readonly Found[], notes: readonly string[]): Opened {
  const shown = found.slice(0, mostPrograms);
  const left = found.length - shown.length;
  return {
    text: shown.map(({ func }) => printFunc(func)).join("\n"),
    inputs: Object.fromEntries(shown.map(({ func, inputs }) => [func.name, inputs])),
    notes:
      left === 0 ? notes : [...notes, `The first ${shown.length} of ${found.length} programs are shown.`],
  };
}

/**
 * Returns the programs and inputs of the test cases in a JSON file; only the test case `id` if given. Notes
 * list malformed and refused test cases. Throws a CompileError (TC013) if no program is left.
 */
export function openedCases(text: string, file: string, id?: string): Opened {
  const symbols = new UniqueNames();
  const notes: string[] = [];
  const cases = readCaseList(text, file).filter((test) => id === undefined || test.id === id);
  const found = cases.flatMap((test): Found[] => {
    if ("malformed" in test) {
      notes.push(...test.malformed.map(({ message }) => message));
      return [];
    }
    const result = caseProgram(test);
    if (!result.ok) {
      notes.push(
        ...result.diagnostics.map(
          ({ message }) => `${test.id} is refused, as it may be meant to be: ${message}`,
        ),
      );
      return [];
    }
    const inputs = Object.fromEntries(
      Object.entries(test.inputs).map(([key, tensor]) => [key, tensor.read()]),
    );
    return [{ func: { ...result.func, name: symbols.next(test.id) }, inputs }];
  });
  if (found.length === 0)
    throw new CompileError([error("TC013", `${file} has no program: ${notes[0] ?? "the file has no case"}`)]);
  return opened(found, notes);
}

/**
 * Returns the gathers of an ONNX model as programs, with the constant inputs. Notes list the gathers that are
 * left out. Throws a CompileError (TC014) if no gather with fixed shapes is left.
 */
function openedModel(bytes: Uint8Array, file: string): Opened {
  const gathers = findGathers(readModel(bytes, file));
  const notes: string[] = [];
  const found = gathers.flatMap((gather): Found[] => {
    const { name } = gather;
    const result = gather.ok ? tryProgram({ ...gather.program, name }) : undefined;
    if (gather.ok && result?.ok === true) return [{ func: result.func, inputs: fixedInputs(gather) }];
    const diagnostics = gather.ok ? (result?.ok === false ? result.diagnostics : []) : [gather.diagnostic];
    notes.push(...diagnostics.map(({ message }) => message));
    return [];
  });
  if (found.length === 0)
    throw new CompileError([
      error(
        "TC014",
        `${file} holds no gather of fixed shapes${notes[0] === undefined ? "" : `: ${notes[0]}`}`,
      ),
    ]);
  return opened(found, notes);
}

/**
 * Sets an input of the requested function to an array from a file. An input with the type of the array is
 * preferred. Without such an input, the data or indices operand is set and gets the type of the array. Throws
 * a CompileError (TC012) if the function lacks this operand.
 */
function openedArray(
  asked: Omit<Work["open"]["ask"], "name" | "bytes">,
  value: TensorValue,
  file: string,
): Opened {
  const func = funcOf(asked);
  const same = (operand: Operand): boolean => formatType(operand.type) === formatType(value.type);
  const inputs = inputsOf(func);
  // Bytes and 16-bit numbers are elements more often than indices.
  const { dtype } = value.type;
  const wanted = isIndexDType(dtype) && bytesOf(dtype) >= 4 ? "indices" : "data";
  const fits = inputs.filter(same);
  const operand =
    fits.find(({ role }) => role === wanted) ?? fits[0] ?? inputs.find(({ role }) => role === wanted);
  if (operand === undefined)
    throw new CompileError([error("TC012", `${file} fits no input of @${func.name}`)]);
  const key = keyOf(operand);
  const text = same(operand)
    ? asked.text
    : edited(asked, { kind: "type", operand: key, text: typeText(value.type) });
  return {
    text,
    func: func.name,
    inputs: { ...asked.inputs, [func.name]: { ...entryOf(asked.inputs, func.name), [key]: value } },
    notes: [
      `${file} is now the ${key} of @${func.name}${text === asked.text ? "" : `, which takes ${formatType(value.type)}`}.`,
    ],
  };
}
