/** The map over whole tensors that defines a program, with the tensors it relates. */
import type { AccessMap, NegativeIndex, OutOfBounds } from "../../ir/access.js";
import { mapOverTensors } from "../../ir/addressing.js";
import { CompileError, error } from "../../ir/diagnostic.js";
import type { Operand, TileFunc } from "../../ir/func.js";
import { accessMap, effectiveType, type Operator } from "../../ir/operator.js";
import { taskOfTile } from "../../ir/task/index.js";

/** An operator with what its dialect decided: all that its definition needs. */
export interface ReferenceProgram {
  readonly operator: Operator;
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
}

/** The inputs by their number in the map, then the output. */
export interface DefinedMap {
  readonly map: AccessMap;
  readonly operands: readonly Operand[];
}

/** The map of an operator. */
export const mapOfOperator = (
  { operator, negative, oob }: ReferenceProgram,
  operands: readonly Operand[],
): DefinedMap => ({ map: accessMap(operator, negative, oob), operands: effective(operator, operands) });

/** The operands with the operator's shapes: a dialect's leading ones are gone. */
export function effective(operator: Operator, operands: readonly Operand[]): readonly Operand[] {
  return operands.map((operand, k) => ({ ...operand, type: effectiveType(operator, operand.type, k) }));
}

/** The map of a tile program. Throws a CompileError (TC702) where it differs from one tile to the next. */
export function mapOfTile(tile: TileFunc): DefinedMap {
  const map = mapOverTensors(tile, taskOfTile(tile));
  if (map !== undefined) return { map, operands: tile.operands };
  const message = `the map of @${tile.name} is another in each tile: it states nothing over whole tensors`;
  const hint = "compare it with a program that does: --against";
  throw new CompileError([error("TC702", message, { span: tile.span, hint })]);
}
