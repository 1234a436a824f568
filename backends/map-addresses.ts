/** Places of the elements that a map over whole tensors makes an output element from. */
import { isRead } from "../ir/access.js";
import { inputsOf } from "../ir/func.js";
import { evaluate, type Env, type Linear } from "../ir/linear.js";
import { noElement } from "../ir/policy.js";
import { at } from "../ir/types.js";
import { IndexWalk, reductionRange, tensorSteps, type IndexStep } from "./index-walk.js";
import { indexReader, inputTensor } from "./memory.js";
import type { MappedInputs } from "./resolved-indices.js";

/**
 * Cursor over an access map on whole tensors. The cursor selects one output element (one point, for a
 * scatter) and gives the coordinates of all elements from which the element or the point's value is computed.
 */
export interface MapAddresses {
  /**
   * Selects the output element, or the point of a scatter, at coordinates `out`. Returns 0 if its value is to
   * be computed. `noElement`: the output element is the fill bits; a point writes nothing. `fillValue`: the
   * point writes the fill bits. `outOfRange`: an index value is rejected.
   */
  readonly to: (out: readonly number[]) => number;
  /** Returns the coordinates of read number `read` of the map, in an array that the next call reuses. */
  readonly read: (read: number) => readonly number[];
  /** Returns the coordinates of the output element that is written. */
  readonly written: () => readonly number[];
  /**
   * Selects the reduction elements of the output element, one after another. Yields 0, or `outOfRange` for a
   * reduction element whose index value is rejected.
   */
  readonly reduction?: () => Iterable<number>;
}

const noLoops: Env = new Map();

/**
 * Returns a cursor over an access map on whole tensors. The cursor moves over the output elements (for a
 * scatter, the points), and over the reduction elements of each output element.
 */
export function mapAddresses({ map, operands, inputs }: MappedInputs): MapAddresses {
  const readers = inputsOf({ operands }).map((operand, table) =>
    map.indices.some(({ value }) => isRead(value) && value.table === table)
      ? indexReader(inputTensor(inputs, operand).bytes, operand.type.dtype)
      : undefined,
  );
  const walk = new IndexWalk(tensorSteps(map, operands));
  let dims: readonly number[] = [];
  /**
   * Takes steps up to the first without an element, which stops the evaluation of the element or of the
   * reduction element. Returns the result of that step, or 0 if there is none.
   */
  const taken = (steps: readonly IndexStep[]): number => {
    for (const step of steps) {
      if (walk.lacks(step)) continue;
      const element = walk.takeFrom(step, readers, dims, noLoops);
      if (walk.endsAt(step, element)) return element;
    }
    return 0;
  };
  const coordinatesOf = (coords: readonly Linear[]): readonly number[] =>
    coords.map((coord) => evaluate(coord, noLoops, { dims, indices: walk.indices }));
  return {
    to(out) {
      dims = out;
      walk.begin();
      const ended = taken(walk.outerSteps);
      return ended < 0 ? ended : walk.ended;
    },
    read: (read) => coordinatesOf(at(map.reads, read).at),
    written: () => coordinatesOf(map.write.at),
    *reduction() {
      const out = dims;
      const [first, end] = reductionRange(map, walk.indices);
      for (let r = first; r < end; r++) {
        dims = [...out, r];
        const ended = taken(walk.reductionSteps);
        // A term without a value is none.
        if (ended !== noElement) yield ended;
      }
      dims = out;
    },
  };
}
