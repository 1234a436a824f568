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

/**
 * Arguments of {@link gather}, pypto.gather: the types of `input` and `index`, the dim, and optional tile and
 * view shapes.
 */
export type PyptoGatherArguments = PyptoArguments<typeof pyptoGather>;
/**
 * Arguments of {@link indexSelect}, pypto.index_select: the types of `input` and `index`, the dim, and
 * optional tile and view shapes.
 */
export type PyptoIndexSelectArguments = PyptoArguments<typeof pyptoIndexSelect>;

const commonFields: Fields<CommonArguments> = {
  input: pairField,
  index: pairField,
  dim: attributeField,
  vecTileShapes: scheduleFields.tile,
  viewShape: scheduleFields.view,
};

/**
 * Builds the source program of a PyPTO operator, with the tile and view shapes of the arguments as the
 * schedule. Throws a CompileError (TC1xx) if the arguments break a rule.
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
 * Builds the source program of pypto.gather(input, dim, index), which gathers single elements along `dim`.
 * The output has the shape of `index`.
 */
export const gather = (args: PyptoGatherArguments): SourceFunc => build(pyptoGather, args);

/**
 * Builds the source program of pypto.index_select(input, dim, index), which selects slices along `dim`.
 * Output shape: input.shape[:dim] + index.shape + input.shape[dim+1:].
 */
export const indexSelect = (args: PyptoIndexSelectArguments): SourceFunc => build(pyptoIndexSelect, args);

/**
 * Arguments of {@link gatherInUb}, pypto.gather_in_ub: the types of the inputs, and `blockSize`, the number
 * of rows of a page.
 */
export type PyptoGatherInUbArguments = BuilderArguments<typeof pyptoGatherInUb, "blockSize">;

/**
 * Builds the source program of pypto.gather_in_ub(param, indices, block_table, block_size, axis), which
 * gathers rows of `param` through the page table `block_table`. Output shape: [number of tokens, columns of
 * param].
 */
export const gatherInUb = builder(pyptoGatherInUb, "blockSize");

/**
 * Arguments of {@link scatterUpdate}, pypto.scatter_update: a cache `input` of 2 or 4 dims, slot indices
 * `index` of shape [b, s], and rows `src`. A slot is a row of a 2-dim cache, or a token of a 4-dim cache.
 */
export type PyptoScatterUpdateArguments = BuilderArguments<typeof pyptoScatterUpdate>;
/**
 * Arguments of {@link scatter} and {@link scatterInPlace}. The update is the tensor `src` or the number
 * `value`. `reduce`: none (default), add or multiply.
 */
export type PyptoScatterArguments = BuilderArguments<typeof pyptoScatter, "dim">;

/**
 * Builds the source program of pypto.scatter_update(input, -2, index, src), which writes rows of `src` into
 * slots of the cache `input` in place. A row with a slot index out of range is skipped.
 */
export const scatterUpdate = builder(pyptoScatterUpdate);

/**
 * Builds the source program of pypto.scatter(input, dim, index, src), which writes updates into a copy of
 * `input`.
 */
export const scatter = builder(pyptoScatter, "dim");

/**
 * Builds the source program of pypto.scatter_(input, dim, index, src), which writes updates into `input` in
 * place.
 */
export const scatterInPlace = builder(pyptoScatterInPlace, "dim");

/**
 * Arguments of {@link indexAdd}, {@link indexAddInPlace} and {@link indexAddUb}. `source`: one slice along
 * `dim` for each element of `index`. `alpha`: number by which `source` is multiplied, default 1.
 */
export type PyptoIndexAddArguments = BuilderArguments<typeof pyptoIndexAdd, "dim">;

/**
 * Builds the source program of pypto.index_add(input, dim, index, source, alpha=alpha), which adds slices of
 * `source` to a copy of `input`.
 */
export const indexAdd = builder(pyptoIndexAdd, "dim");

/**
 * Builds the source program of pypto.index_add_(input, dim, index, source, alpha=alpha), which adds slices of
 * `source` to `input` in place.
 */
export const indexAddInPlace = builder(pyptoIndexAddInPlace, "dim");

/**
 * Builds the source program of pypto.index_add_ub(input, dim, index, source, alpha=alpha): {@link indexAdd}
 * with every operand in the unified buffer (UB).
 */
export const indexAddUb = builder(pyptoIndexAddUb, "dim");

/**
 * Arguments of {@link indexPutInPlace}. `indices0` to `indices3`: index tensors of one dim for the leading
 * dims of `input`. `accumulate`: 1 to add values, 0 (default) to replace elements.
 */
export type PyptoIndexPutArguments = BuilderArguments<typeof pyptoIndexPutInPlace>;

/**
 * Builds the source program of pypto.index_put_(input, indices, values, accumulate), which writes values into
 * `input` in place.
 */
export const indexPutInPlace = builder(pyptoIndexPutInPlace);
