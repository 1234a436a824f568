/** Builders with PyPTO's arguments. Each throws a CompileError (TC1xx) where PyPTO's rules are broken. */
import {
  defined,
  attrsFrom,
  type ArgumentsOf,
  type OpDef,
  type Schedule,
  type SourceFunc,
} from "../../ir/index.js";
import type { Fields } from "../../backends/index.js";
import { pyptoGatherInUb } from "../../ir/ops/gather-in-ub.js";
import { pyptoGather, pyptoIndexSelect } from "../../ir/ops/pypto.js";
import {
  pyptoIndexAdd,
  pyptoIndexAddInPlace,
  pyptoIndexAddUb,
  pyptoScatter,
  pyptoScatterInPlace,
  pyptoScatterUpdate,
} from "../../ir/ops/pypto-scatter.js";
import { pyptoIndexPutInPlace } from "../../ir/ops/subscript-scatter.js";
import {
  attributeField,
  attributeFields,
  checkArguments,
  pairField,
  scheduleFields,
} from "../api/check-options.js";
import { program, tensorTypeOf, type TypePair } from "../api/program.js";
import { builder, type BuilderArguments } from "./builder.js";

interface CommonArguments {
  readonly input: TypePair;
  readonly index: TypePair;
  /** In [-rank, rank - 1]. */
  readonly dim: number;
  /** Tile that `set_vec_tile_shapes` would set, for this operation alone. */
  readonly vecTileShapes?: readonly number[];
  readonly viewShape?: readonly number[];
}

type PyptoArguments<D extends OpDef> = ArgumentsOf<D> & CommonArguments;

/** Arguments of pypto.gather. */
export type PyptoGatherArguments = PyptoArguments<typeof pyptoGather>;
/** Arguments of pypto.index_select. */
export type PyptoIndexSelectArguments = PyptoArguments<typeof pyptoIndexSelect>;

const commonFields: Fields<CommonArguments> = {
  input: pairField,
  index: pairField,
  dim: attributeField,
  vecTileShapes: scheduleFields.tile,
  viewShape: scheduleFields.view,
};

/**
 * Builds the program of a PyPTO operator from its arguments; tile and view shapes become its schedule. Throws
 * a CompileError (TC1xx) if the arguments break a rule.
 */
function build<D extends OpDef>(def: D, args: PyptoArguments<D>): SourceFunc {
  const fields = { ...commonFields, ...attributeFields(def) };
  checkArguments(def.name, args, fields, ["input", "index", "dim"]);
  const schedule: Schedule = {
    ...defined({ tile: args.vecTileShapes, view: args.viewShape }),
  };
  return program({
    op: def.name,
    attrs: attrsFrom(def, args),
    data: tensorTypeOf(args.input),
    indices: tensorTypeOf(args.index),
    schedule,
  });
}

/**
 * Builds the program of pypto.gather(input, dim, index), which gathers element by element along `dim`. The
 * output has the shape of index.
 */
export const gather = (args: PyptoGatherArguments): SourceFunc => build(pyptoGather, args);

/**
 * Builds the program of pypto.index_select(input, dim, index), which gathers whole rows. Output shape:
 * input[:dim] + index + input[dim+1:].
 */
export const indexSelect = (args: PyptoIndexSelectArguments): SourceFunc => build(pyptoIndexSelect, args);

/** Arguments of pypto.gather_in_ub. */
export type PyptoGatherInUbArguments = BuilderArguments<typeof pyptoGatherInUb, "blockSize">;

/**
 * Builds pypto.gather_in_ub(param, indices, block_table, block_size, axis): gathers rows of `param` by token
 * number through a page table. Output shape: [k, columns of param], where k is the number of tokens.
 */
export const gatherInUb = builder(pyptoGatherInUb, "blockSize");

/**
 * Arguments of pypto.scatter_update: a cache `input` of 2 or 4 dims, slot numbers `index` [b, s], and rows
 * `src`. `dim` is -2.
 */
export type PyptoScatterUpdateArguments = BuilderArguments<typeof pyptoScatterUpdate>;
/**
 * Arguments of pypto.scatter and pypto.scatter_: updates are `src`, or a number `value` in its place.
 * `reduce` is none, add or multiply.
 */
export type PyptoScatterArguments = BuilderArguments<typeof pyptoScatter, "dim">;

/**
 * Builds pypto.scatter_update(input, -2, index, src): writes rows into input in place. A slot number outside
 * input is skipped.
 */
export const scatterUpdate = builder(pyptoScatterUpdate);

/** Builds pypto.scatter(input, dim, index, src): writes updates into a copy of input. */
export const scatter = builder(pyptoScatter, "dim");

/** Builds pypto.scatter_(input, dim, index, src): writes updates into input in place. */
export const scatterInPlace = builder(pyptoScatterInPlace, "dim");

/**
 * Arguments of pypto.index_add and its variants: `source` has as many slices along `dim` as `index` has
 * entries. `alpha` (default 1) multiplies `source`.
 */
export type PyptoIndexAddArguments = BuilderArguments<typeof pyptoIndexAdd, "dim">;

/**
 * Builds pypto.index_add(input, dim, index, source, alpha=alpha): adds slices of source to a copy of input.
 */
export const indexAdd = builder(pyptoIndexAdd, "dim");

/**
 * Builds pypto.index_add_(input, dim, index, source, alpha=alpha): adds slices of source to input in place.
 */
export const indexAddInPlace = builder(pyptoIndexAddInPlace, "dim");

/** Builds pypto.index_add_ub(input, dim, index, source, alpha=alpha): index_add with every operand in UB. */
export const indexAddUb = builder(pyptoIndexAddUb, "dim");

/**
 * `indices0` to `indices3`: one for each leading dim, of one dim and one length; `accumulate` 1 adds, default 0.
 */
export type PyptoIndexPutArguments = BuilderArguments<typeof pyptoIndexPutInPlace>;

/** pypto.index_put_(input, indices, values, accumulate): writes into input. */
export const indexPutInPlace = builder(pyptoIndexPutInPlace);
