/** Maps that PTO-ISA's instructions carry out as they are: what lowerings ask for, and nobody else. */
import { derivedOnce } from "../derived-once.js";
import {
  countsFromBound,
  dataCoords,
  gatheredTable,
  isMove,
  isRead,
  type AccessMap,
  type OutOfBounds,
  type Read,
  type IndexOperand,
} from "../access.js";
import { dimsOf, isConstant, soleAtom } from "../linear.js";

/**
 * True if PTO-ISA gather instructions can perform a gather: {@link isPlain} is true for the access map, and
 * there is exactly one index tensor. `inputs`: number of inputs, including the data.
 */
export const hasPtoForm = (map: AccessMap, inputs: number): boolean => inputs === 2 && isPlain(map);

/**
 * Index operand that reads an index tensor at coordinates that are dims or constants, with an out-of-range
 * policy and an `extent`.
 */
export interface PlainIndex extends IndexOperand {
  readonly value: Read;
  readonly outOfRange: OutOfBounds;
  readonly extent: number;
}

const isPlainIndex = (index: IndexOperand): index is PlainIndex =>
  isRead(index.value) &&
  index.outOfRange !== "any" &&
  index.extent !== undefined &&
  index.excluded === undefined &&
  countsFromBound(index) &&
  index.value.at.every((coord) => isConstant(coord) || soleAtom(coord)?.kind === "dim");

/** True if an access map is the map of a gather, gather_elements or gather_nd operator. */
export const isPlain = derivedOnce(plain);

/**
 * True if an access map is the map of a gather, gather_elements or gather_nd operator without a fill value.
 */
function plain(map: AccessMap): boolean {
  const { indices, fill } = map;
  const coords = dataCoords(map);
  const atoms = coords.map(soleAtom);
  const direct = atoms.flatMap((of) => (of?.kind === "dim" ? [of.dim] : []));
  const picked = atoms.flatMap((of) => (of?.kind === "index" ? [of.index] : []));
  const patterns = new Map<number, string>();
  return (
    isMove(map) &&
    direct.length + picked.length === coords.length &&
    new Set(direct).size === direct.length &&
    picked.length === indices.length &&
    new Set(picked).size === indices.length &&
    indices.length > 0 &&
    fill === undefined &&
    indices.every((index) => {
      if (
        !isPlainIndex(index) ||
        index.value.table === gatheredTable ||
        index.outOfRange !== indices[0]?.outOfRange
      )
        return false;
      const { table } = index.value;
      const pattern = index.value.at.map((coord) => dimsOf(coord).join()).join(";");
      const expected = patterns.get(table) ?? pattern;
      patterns.set(table, expected);
      return expected === pattern;
    })
  );
}

/**
 * Returns the index operands of an access map that satisfy {@link PlainIndex}: they read an index tensor at
 * dims or constants, and have an out-of-range policy and an extent. These are all index operands if {@link
 * isPlain} is true.
 */
export const plainIndices = (map: AccessMap): readonly PlainIndex[] => map.indices.filter(isPlainIndex);
