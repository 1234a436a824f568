/**
 * A tile program against the operator it claims to be: the same inputs through both, compared bit for bit,
 * the first element that differs named with the statement that wrote it.
 */
import { reference, referenceOfMap } from "../../backends/reference/index.js";
import { coordinates, type HostInputs } from "../../backends/index.js";
import { checkDefinition } from "./check-definition.js";
import { originOf, type RunInputs } from "./origin-of.js";
import {
  defined,
  CompileError,
  elementCount,
  error,
  formatShape,
  outputOf,
  resolveSource,
  sourceOp,
  type Diagnostic,
  type Func,
  type TileFunc,
} from "../../ir/index.js";
import { showElement } from "../formats/elements.js";
import { differencesBetween, type TensorValue } from "../formats/tensor.js";

/**
 * Returns the output bytes that a source or access program (`definition`) computes from the inputs of a tile
 * program. Throws a CompileError if the tensors of the two programs differ or `definition` is invalid. Throws
 * a RunError (TC601) for an index out of range under policy `error`.
 */
export function definedOutput(definition: Func, tile: TileFunc, inputs: HostInputs): Uint8Array {
  checkDefinition(definition, tile);
  switch (definition.level) {
    case "source": {
      const result = resolveSource(sourceOp(definition));
      if (!result.ok) throw new CompileError(result.diagnostics);
      return reference(result.resolved, inputs, definition.operands);
    }
    case "access":
      return referenceOfMap(definition.map, definition.operands, inputs);
    case "tile": {
      const hint = "--against takes a source or an access program";
      throw new CompileError([
        error("TC702", `@${definition.name} is a tile program: it defines nothing`, { hint }),
      ]);
    }
  }
}

/**
 * Returns an error (TC610) about the first element at which `actual`, the output of a run, differs from
 * `expected`; undefined if the two are equal. `side`: the run. `who`: name of the run in the message.
 */
export function differenceFrom(
  side: RunInputs,
  expected: TensorValue,
  actual: TensorValue,
  who: string,
): Diagnostic | undefined {
  const { shape } = outputOf(side.tile).type;
  const differences = differencesBetween(expected, actual);
  if (differences === undefined) return undefined;
  const { first, count } = differences;
  const point = coordinates(first, shape);
  const [got, wanted] = [shownElement(actual, first), shownElement(expected, first)];
  const message =
    `${who}: ${count} of ${elementCount(shape)} elements differ; first at ${formatShape(point)}: ` +
    `got ${got}, expected ${wanted}`;
  const origin = originOf(side, first);
  return error("TC610", message, {
    ...defined({ notes: origin?.notes, span: origin?.span }),
    data: { element: first, point, count, expected: wanted, actual: got },
  });
}

const shownElement = ({ type, bytes, strings }: TensorValue, k: number): string =>
  strings === undefined ? showElement(type.dtype, bytes, k) : JSON.stringify(strings[k] ?? "");
