/**
 * Random maps whose coordinates count in steps of any sign along each dim, of the data and of the indices;
 * empty dims among them.
 */
import type { Draw } from "../fuzz/mutate.js";
import type { Node, OracleMap, Policy, Table } from "../oracle/maps.js";

const dataTypes = ["f32", "i32", "f16", "u8", "i64", "c128"] as const;
const indexTypes = ["i32", "i64", "u8", "u32"] as const;
/** Multiples of 4, which vectors of neighbours divide, more often than others. */
const extents = [4, 8, 12, 4, 8, 1, 2, 3, 5] as const;
const steps = [-1, 1, -2, 2, -3, 3, 0] as const;
const held: readonly Policy[] = ["error", "error", "error", "clamp", "fill", "wrap"];

const whole = (value: number): Node => ({ kind: "whole", value });
const plus = (left: Node, right: Node): Node => ({ kind: "plus", left, right });

/** A coordinate with its exclusive upper bound. */
interface Coordinate {
  readonly node: Node;
  readonly extent: number;
}

/**
 * `first + step * d`, from 0 or 1 on: `first` is where the last element of a dim that counts down leaves
 * room.
 */
function stepped(draw: Draw, output: readonly number[], dim = draw(output.length)): Coordinate {
  const step = steps[draw(steps.length)]!;
  const reach = Math.abs(step) * Math.max(0, output[dim]! - 1);
  const least = draw(2);
  const first = least + (step < 0 ? reach : 0);
  const moved: Node = { kind: "times", by: step, of: { kind: "dim", dim } };
  const down: Node = { kind: "times", by: -step, of: { kind: "dim", dim } };
  const node: Node =
    draw(2) === 0 ? plus(whole(first), moved) : { kind: "minus", left: whole(first), right: down };
  return { node, extent: least + reach + 1 };
}

/**
 * A map whose index values are in range for most elements. An extent of the output may be 0; where it
 * `isEmpty`, one is.
 */
export function randomSteps(draw: Draw, isEmpty = false): OracleMap {
  const drawn = Array.from({ length: (isEmpty ? 2 : 1) + draw(isEmpty ? 2 : 3) }, () =>
    draw(10) === 0 ? 0 : extents[draw(extents.length)]!,
  );
  const none = isEmpty ? draw(drawn.length) : undefined;
  const output = drawn.map((extent, d) => (d === none ? 0 : extent));
  const dtype = indexTypes[draw(indexTypes.length)]!;
  /** Mostly dims that have elements, so that there are index values. */
  const followed = (): number => {
    const dim = draw(output.length);
    return dim === none && draw(8) > 0 ? (dim + 1) % output.length : dim;
  };
  const tableCoords = Array.from({ length: 1 + draw(2) }, () => stepped(draw, output, followed()));
  const below = 1 + draw(6);
  const read: Node = { kind: "read", table: 1, at: tableCoords.map(({ node }) => node) };
  const index = (): Coordinate => {
    const keep = held[draw(held.length)]!;
    const of: Node = draw(3) === 0 ? { kind: "fromEnd", of: read } : read;
    const site: Node = { kind: "policy", keep, of, below: whole(below) };
    switch (draw(4)) {
      case 0:
        return { node: { kind: "minus", left: whole(below - 1), right: site }, extent: below };
      case 1: {
        const by = 1 + draw(2);
        const beside = stepped(draw, output);
        const taken: Node = { kind: "times", by: -by, of: site };
        return {
          node: plus(beside.node, plus(whole(by * (below - 1)), taken)),
          extent: beside.extent + by * (below - 1),
        };
      }
      case 2: {
        const beside = stepped(draw, output);
        return { node: plus(site, beside.node), extent: beside.extent + below - 1 };
      }
      default:
        return { node: site, extent: below };
    }
  };
  const results = [index(), ...Array.from({ length: draw(3) }, () => stepped(draw, output))].sort(
    () => draw(3) - 1,
  );
  const tables: readonly Table[] = [
    { name: "data", dtype: dataTypes[draw(dataTypes.length)]!, shape: sizes(results), values: [] },
    { name: "i", dtype, shape: sizes(tableCoords), values: valuesOf(draw, sizes(tableCoords), below, dtype) },
  ];
  const coords = results.map(({ node }) => node);
  return { tables, output, lets: [], results: coords, oob: "error", fill: 0n, sizes: {}, most: {} };
}

const sizes = (coords: readonly Coordinate[]): number[] => coords.map(({ extent }) => extent);

function valuesOf(draw: Draw, shape: readonly number[], below: number, dtype: string): bigint[] {
  const wild = draw(3) === 0;
  const least = dtype.startsWith("i") && wild ? -below - 1 : 0;
  const span = wild ? 3 * below : below;
  return Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => BigInt(least + draw(span)));
}
