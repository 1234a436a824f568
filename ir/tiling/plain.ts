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
 * Whether a map has the form that PTO-ISA gathers by: data and one tensor of indices, which is read at output dims, each value of it
 * alone in a coordinate of the data. `inputs`: of the gather.
 */
export const hasPtoForm = (map: AccessMap, inputs: number): boolean => inputs === 2 && isPlain(map);

/** An index operand that reads an index input at dims and constants, under a bound that negative values count from. */
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

/** True if a map is one of the three operators' kind: asked for each tile that is weighed. */
export const isPlain = derivedOnce(plain);

/**
 * True if a coordinate is one output dim or one index operand that stands nowhere else, and every index operand is plain, reads the same dims of its
 * table as the others, and leaves zero bits where there is no element, all under one policy.
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

/** The index operands of a plain map. */
export const plainIndices = (map: AccessMap): readonly PlainIndex[] => map.indices.filter(isPlainIndex);
