/** Check of a definition: a program with fixed sizes and the tensors of the program that it defines. */
import {
  CompileError,
  error,
  formatShape,
  formatType,
  keyOf,
  throwIfErrors,
  unbound,
  type Func,
  type TensorType,
  type TileFunc,
} from "../../ir/index.js";

/**
 * Throws a CompileError unless the program `definition` can define the output of a tile program. TC107:
 * `definition` has a symbol without a size. TC702: an operand of `definition` is missing in the tile program
 * or has another type there.
 */
export function checkDefinition(definition: Func, tile: TileFunc): void {
  const hint = `a definition takes no sizes: write those of @${tile.name} in place of its symbols`;
  throwIfErrors(unbound(definition).map((problem) => ({ ...problem, hint })));
  const pairs = definition.operands.map((operand, k) => [operand, tile.operands[k]] as const);
  const differ = pairs.filter(([a, b]) => b === undefined || !sameElements(a.type, b.type));
  if (differ.length === 0) return;
  const shown = differ.map(
    ([a, b]) =>
      `${keyOf(a)} is ${formatType(a.type)} there and ${b === undefined ? "nothing" : formatType(b.type)} here`,
  );
  const message = `@${definition.name} is no definition of @${tile.name}: ${shown.join("; ")}`;
  throw new CompileError([error("TC702", message, { span: definition.span })]);
}

/**
 * True if two types have the same element type and the same shape apart from leading ones. A dialect may
 * ignore leading ones.
 */
const sameElements = (a: TensorType, b: TensorType): boolean =>
  a.dtype === b.dtype && withoutOnes(a.shape) === withoutOnes(b.shape);

const withoutOnes = (shape: readonly number[]): string => {
  const first = shape.findIndex((n) => n !== 1);
  return formatShape(shape.slice(first === -1 ? shape.length : first));
};
