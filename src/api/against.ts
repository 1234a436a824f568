/**
 * A tile program against the operator it claims to be: the same inputs through both, compared bit for bit, the first
 * element that differs named with the statement that wrote it.
 */
import { reference, referenceOfMap } from "../../backends/reference/index.js";
import { coordinates, type HostInputs } from "../../backends/index.js";
import {
  CompileError,
  elementCount,
  error,
  formatShape,
  formatType,
  iterationWriting,
  outputOf,
  printStmtHead,
  resolveSource,
  sourceOp,
  type Diagnostic,
  type Func,
  type TileFunc,
} from "../../ir/index.js";
import { showElement } from "../formats/elements.js";
import { differencesOf } from "../formats/tensor.js";

/**
 * The output that a source or access program defines for the inputs of a tile program. Throws a CompileError (TC702) when its
 * tensors are not those of the tile program, TC1xx when it breaks a rule of its dialect; a RunError (TC601).
 */
export function definedOutput(definition: Func, tile: TileFunc, inputs: HostInputs): Uint8Array {
  const pairs = definition.operands.map((operand, k) => [operand, tile.operands[k]] as const);
  const differ = pairs.filter(([a, b]) => b === undefined || !sameElements(a.type, b.type));
  if (differ.length > 0) {
    const shown = differ.map(
      ([a, b]) =>
        `${a.role} is ${formatType(a.type)} there and ${b === undefined ? "nothing" : formatType(b.type)} here`,
    );
    const message = `@${definition.name} is no definition of @${tile.name}: ${shown.join("; ")}`;
    throw new CompileError([error("TC702", message, { span: definition.span })]);
  }
  switch (definition.level) {
    case "source": {
      const result = resolveSource(sourceOp(definition));
      if (!result.ok) throw new CompileError(result.diagnostics);
      return reference(result.resolved, inputs);
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

/** Leading ones that a dialect ignores make no difference to the elements. */
const sameElements = (a: Parameters<typeof formatType>[0], b: Parameters<typeof formatType>[0]): boolean =>
  a.dtype === b.dtype && withoutOnes(a.shape) === withoutOnes(b.shape);

const withoutOnes = (shape: readonly number[]): string => {
  const first = shape.findIndex((n) => n !== 1);
  return formatShape(shape.slice(first === -1 ? shape.length : first));
};

/** TC610 with the first element that differs and the statement of the tile program that wrote it; undefined when none does. */
export function differenceFrom(
  tile: TileFunc,
  expected: Uint8Array,
  actual: Uint8Array,
  who: string,
): Diagnostic | undefined {
  const { type } = outputOf(tile);
  const { dtype, shape } = type;
  const differences = differencesOf(type, expected, actual);
  if (differences === undefined) return undefined;
  const { first, count } = differences;
  const point = coordinates(first, shape);
  const writer = writerOf(tile, point);
  const message =
    `${who}: ${count} of ${elementCount(shape)} elements differ; first at ${formatShape(point)}: ` +
    `got ${showElement(dtype, actual, first)}, expected ${showElement(dtype, expected, first)}`;
  return error("TC610", message, {
    ...(writer === undefined ? {} : { notes: [`written by ${writer.text}`], span: writer.span }),
    data: { element: first, point, count },
  });
}

/** The statement, and its iteration, that writes an output element. */
function writerOf(tile: TileFunc, point: readonly number[]) {
  const found = iterationWriting(tile, point);
  if (found === undefined) return undefined;
  const where = [...found.env].map(([name, value]) => `%${name} = ${value}`).join(", ");
  return {
    text: `${printStmtHead(found.gather)}${where === "" ? "" : ` at ${where}`}`,
    span: found.gather.span,
  };
}
