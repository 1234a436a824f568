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
 * True if a map has the form that PTO-ISA gathers by: data and one tensor of indices. The indices are read at
 * output dims. Each index value is alone in a coordinate of the data. `inputs`: the number of the gather's
 * inputs.
 */
export const hasPtoForm = (map: AccessMap, inputs: number): boolean => inputs === 2 && isPlain(map);

/**
 * Index operand that reads an index input at coordinates of dims and constants. It has a policy, and a bound
 * from which negative values count.
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

/**
 * True if a map has the form of one of the operators gather, gather_elements and gather_nd. The result is
 * cached by map.
 */
export const isPlain = derivedOnce(plain);

/**
 * True if a map has the form of one of the operators gather, gather_elements and gather_nd. Each data
 * coordinate is then an output dim or an index operand, used once. Every index operand is plain, has the same
 * policy and reads the same dims of its table as the others. Elements without an index are zero bits.
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

/** Returns the index operands of a plain map ({@link isPlain}). */
export const plainIndices = (map: AccessMap): readonly PlainIndex[] => map.indices.filter(isPlainIndex);
