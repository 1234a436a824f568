/** Builders with PyPTO's arguments. Each throws a CompileError (TC1xx) where PyPTO's rules are broken. */
import type { OutOfBounds, Schedule, SourceFunc } from "../../ir/index.js";
import type { Fields } from "../../backends/index.js";
import { attrField, checkArguments, pairField, scheduleFields } from "../api/check-options.js";
import { program, typeOf, type TypePair } from "../api/program.js";

export interface PyptoGatherArguments {
  readonly input: TypePair;
  readonly index: TypePair;
  /** In [-rank, rank - 1]. */
  readonly dim: number;
  /** What `set_vec_tile_shapes` would set, for this operation alone. */
  readonly vecTileShapes?: readonly number[];
  readonly viewShape?: readonly number[];
  readonly oob?: OutOfBounds;
}

const gatherFields: Fields<PyptoGatherArguments> = {
  input: pairField,
  index: pairField,
  dim: attrField,
  vecTileShapes: scheduleFields.tile,
  viewShape: scheduleFields.view,
  oob: attrField,
};

function build(op: string, args: PyptoGatherArguments): SourceFunc {
  checkArguments(op, args, gatherFields, ["input", "index", "dim"]);
  const schedule: Schedule = {
    ...(args.vecTileShapes === undefined ? {} : { tile: args.vecTileShapes }),
    ...(args.viewShape === undefined ? {} : { view: args.viewShape }),
  };
  const attrs = { dim: args.dim, ...(args.oob === undefined ? {} : { oob: args.oob }) };
  return program({ op, attrs, data: typeOf(args.input), indices: typeOf(args.index), schedule });
}

/** pypto.gather(input, dim, index): element by element along `dim`. Output shape: that of index. */
export const gather = (args: PyptoGatherArguments): SourceFunc => build("pypto.gather", args);

/** pypto.index_select(input, dim, index): whole rows. Output shape: input[:dim] + index + input[dim+1:]. */
export const indexSelect = (args: PyptoGatherArguments): SourceFunc => build("pypto.index_select", args);
