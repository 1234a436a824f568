/**
 * What an access map says, over whole tensors: out[d…] = value of what is read, each site resolved by its policy, inner ones first. The
 * definition of a tile program that was written by hand.
 */
import { isRead, type AccessMap } from "../../ir/access.js";
import { addressOf } from "../../ir/addressing.js";
import { inputsOf, type Operand } from "../../ir/func.js";
import { constant, evaluate, type Env } from "../../ir/linear.js";
import { at, strides } from "../../ir/types.js";
import { box } from "../box.js";
import { noElement, outOfRange } from "../../ir/policy.js";
import { drained } from "../long-run.js";
import { indexReader, inputTensor, type HostInputs } from "../memory.js";
import { IndexWalk, siteSteps, termsOf, type SiteStep } from "../index-walk.js";
import { elementByElement, type Places } from "./element-by-element.js";

/**
 * The output's bytes. `operands`: the inputs by their number in the map, then the output. Throws a RunError (TC601) for the
 * first output element whose index is out of range under `error` and `unchecked`.
 */
export const referenceOfMap = (
  map: AccessMap,
  operands: readonly Operand[],
  inputs: HostInputs,
): Uint8Array => drained(referenceOfMapSteps(map, operands, inputs));

const noLoops: Env = new Map();

/** `referenceOfMap`, in steps that yield the elements done. */
export function referenceOfMapSteps(
  map: AccessMap,
  operands: readonly Operand[],
  inputs: HostInputs,
): Generator<number, Uint8Array> {
  return elementByElement({ map, operands, inputs }, placesIn(map, operands, inputs));
}

/** The output elements that the map leaves to its fill bits. A run that rejects an index has none behind it. */
export function fillsOfMap(map: AccessMap, operands: readonly Operand[], inputs: HostInputs): number {
  const places = placesIn(map, operands, inputs);
  let fills = 0;
  for (const out of box(at(operands, operands.length - 1).type.shape)) {
    const ended = places.to(out);
    if (ended === outOfRange) break;
    if (ended === noElement) fills++;
  }
  return fills;
}

/** Goes from output element to output element, and from term to term, by the map's index values. */
function placesIn(map: AccessMap, operands: readonly Operand[], inputs: HostInputs): Places {
  const forms = map.sites.map(({ value }) => {
    if (!isRead(value)) return value;
    const { shape } = at(operands, value.table).type;
    return addressOf(value.at, { offsets: shape.map(() => constant(0)), strides: strides(shape) });
  });
  const readers = inputsOf({ operands }).map((operand, table) =>
    map.sites.some(({ value }) => isRead(value) && value.table === table)
      ? indexReader(inputTensor(inputs, operand).bytes, operand.type.dtype)
      : undefined,
  );
  const walk = new IndexWalk(siteSteps(map, forms, operands));
  let dims: readonly number[] = [];
  /** The first site without an element ends what it is of. */
  const taken = (steps: readonly SiteStep[]): number => {
    for (const step of steps) {
      const element = walk.takeFrom(step, readers, dims, noLoops);
      if (element < 0) return element;
    }
    return 0;
  };
  return {
    to(out) {
      dims = out;
      return taken(walk.own);
    },
    read: (read) =>
      at(map.reads, read).at.map((coord) => evaluate(coord, noLoops, { dims, sites: walk.sites })),
    *terms() {
      const out = dims;
      const [first, end] = termsOf(map, walk.sites);
      for (let r = first; r < end; r++) {
        dims = [...out, r];
        const ended = taken(walk.ofTerms);
        // A term without a value is none.
        if (ended !== noElement) yield ended;
      }
      dims = out;
    },
  };
}
