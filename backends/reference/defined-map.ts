/** The map over whole tensors that defines a program, with the tensors it relates. */
import type { AccessMap, NegativeIndex, OutOfBounds } from "../../ir/access.js";
import { mapOverTensors } from "../../ir/addressing.js";
import { CompileError, error } from "../../ir/diagnostic.js";
import type { Operand, TileFunc } from "../../ir/func.js";
import { accessMap, effectiveType, type Operator } from "../../ir/operator.js";
import { taskOfTile } from "../../ir/task/index.js";

/** Operator with the out-of-range policies of its dialect, which together define each output element. */
export interface ReferenceProgram {
  readonly operator: Operator;
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
}

/** Access map over whole tensors, and the operands of the map: the inputs in order, then the output. */
export interface DefinedMap {
  readonly map: AccessMap;
  readonly operands: readonly Operand[];
}

/** Returns the access map over whole tensors that defines an operator, and the operands of the map. */
export const mapOfOperator = (
  { operator, negative, oob }: ReferenceProgram,
  operands: readonly Operand[],
): DefinedMap => ({ map: accessMap(operator, negative, oob), operands: effective(operator, operands) });

/**
 * Returns operands with the shapes that the operator defines, without the leading dims that a dialect adds.
 */
export function effective(operator: Operator, operands: readonly Operand[]): readonly Operand[] {
  return operands.map((operand, k) => ({ ...operand, type: effectiveType(operator, operand.type, k) }));
}

/**
 * Returns the access map over whole tensors of a gather's tile program, and the operands of the map. Throws a
 * CompileError (TC702) if the map differs between tiles, and for a scatter.
 */
export function mapOfTile(tile: TileFunc): DefinedMap {
  const map = mapOverTensors(tile, taskOfTile(tile));
  if (map !== undefined) return { map, operands: tile.operands };
  const message = `the map of @${tile.name} is another in each tile: it states nothing over whole tensors`;
  const hint = "compare it with a program that does: --against";
  throw new CompileError([error("TC702", message, { span: tile.span, hint })]);
}
