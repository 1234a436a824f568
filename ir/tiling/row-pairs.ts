/**
 * Rows of global memory two at a time. A DMA instruction moves rows that lie any distance apart, the one with the lower address
 * first (pto-isa include/pto/common/arch/memory/tload_common.hpp:57: a gap of 32 bits without sign). So two rows that lie one
 * behind the other in the output are one instruction, whatever their numbers: where the second is the lower one, both are
 * fetched into a place of their own, and V copies them to where they belong; where they are one row, it is fetched once.
 *
 * V works behind, batch by batch, and takes less time than MTE2 for each, the waits of both included.
 */
import { dataCoords, pickedFrom, readData, type AccessMap } from "../access.js";
import { hasPtoForm } from "./plain.js";
import type { Target } from "../target.js";
import { ubStrides } from "../tile.js";
import { alignUp, at, byteCount, bytesOf, strides, wholeBytes } from "../types.js";
import { rowNumbers } from "./flat.js";
import type { FlatProgram } from "./flat-program.js";
import type { Instructions, LoweringFacts } from "./gather-lowering.js";
import { folded } from "./gather-work.js";

/** Rows of a batch, and whether members of a tuple are resolved at once. */
const ways = [true, false].flatMap((together) => [2, 4, 8].map((batch) => ({ together, batch })));

/** Elements of the data between rows that index values name. */
export const rowStep = (shape: readonly number[], coords: number): number => at(strides(shape), coords - 1);

/** How the numbers of rows of a tile lie in UB, in 32-bit words. */
export const numberStrides = (picks: readonly number[], { blockBytes }: Target): readonly number[] =>
  ubStrides({ dtype: "i32", shape: picks, rowBytes: alignUp(4 * (picks.at(-1) ?? 1), blockBytes) });

/** How many coordinates of the data name a row. */
export const rowCoords = ({ map }: Pick<LoweringFacts, "map">): number =>
  dataCoords(map).length - (map.outRank - pickedFrom(map));

const numbers = new WeakMap<AccessMap, AccessMap>();

/** The map that gathers numbers of rows where `map` gathers rows: one for all tiles, since what follows of a map is kept with it. */
function numbersOf(map: AccessMap): AccessMap {
  const leading = dataCoords(map).slice(0, rowCoords({ map }));
  const known = numbers.get(map) ?? { ...map, outRank: pickedFrom(map), ...readData(leading) };
  numbers.set(map, known);
  return known;
}

/** What pairs add, and the numbers of their rows, in each way that there is room for; nothing where rows do not pair. */
export function* rowPairs(
  gather: LoweringFacts,
  target: Target,
): Generator<Pick<Instructions, "adds" | "pairs"> & { readonly flat: FlatProgram }> {
  const { map, inputs, output, tile, ragged } = gather;
  const [data, index] = inputs;
  const first = pickedFrom(map);
  const coords = rowCoords(gather);
  if (data === undefined || index?.inTile === undefined || output.inTile === undefined) return;
  // One tensor of indices, whose rows move as they are.
  if (!hasPtoForm(map, inputs.length)) return;
  if (first === 0 || coords === 0 || at(tile, first - 1) < 2) return;
  const { dtype, shape } = data.type;
  const size = bytesOf(wholeBytes(dtype));
  const box = tile.slice(first);
  const within = (of: readonly number[]): readonly number[] => of.slice(of.length - box.length);
  const [burst = 1, ...rows] = folded(box, within(strides(shape)), within(output.inTile));
  // A short last tile has rows of one burst too, where what is short is the outermost of them.
  const outermost = box.findIndex((extent) => extent > 1);
  if (rows.length > 0 || box.some((_, d) => d > outermost && ragged.has(first + d))) return;
  const padded = alignUp(burst * size, target.blockBytes);
  const copied = 2 * (target.copyStartupCycles + padded / target.copyBytesPerCycle);
  const spared = target.loadStartupCycles + (2 * padded) / target.loadBytesPerCycle - copied;
  // Distances in bytes have 32 bits.
  if (byteCount(data.type) > 2 ** 32) return;
  const step = rowStep(shape, coords);
  const leading = { dtype: "i32", shape: shape.slice(0, coords) } as const;
  const picks = tile.slice(0, first);
  for (const { together, batch } of ways) {
    // V waits for the rows of a batch, and MTE2 for V.
    if ((batch / 2) * spared < 2 * target.syncCycles) continue;
    const turned = 2 * batch * at(output.inTile, first - 1) * size;
    const flat = rowNumbers(
      {
        map: numbersOf(map),
        inputs: [
          {
            type: leading,
            inTile: strides(shape)
              .slice(0, coords)
              .map((words) => words / step),
          },
          index,
        ],
        output: {
          type: { dtype: "i32", shape: output.type.shape.slice(0, first) },
          inTile: numberStrides(picks, target),
        },
        tile: picks,
        ragged: new Set([...ragged].filter((d) => d < first)),
        freshIndices: gather.freshIndices,
        spareBytes: gather.spareBytes - turned,
      },
      target,
      together,
    );
    if (flat !== undefined)
      yield { adds: [...flat.adds, { name: "turned", bytes: turned }], flat, pairs: { batch } };
  }
}
