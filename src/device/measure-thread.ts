/**
 * Entry point of a thread that measures candidates in Node. The thread may be ended in the middle of a
 * candidate.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { HostInputs } from "../../backends/index.js";
import type { TileFunc } from "../../ir/index.js";
import { localMeasurer } from "../tune/local-measurer.js";
import type { MeasureOptions, Measurement } from "../tune/search-ms.js";
import { spawnThread } from "./threads.js";

/**
 * Data that a measuring thread receives at the start: the inputs, the bytes of the expected output, and the
 * number of executor threads.
 */
export interface ThreadTask {
  readonly inputs: HostInputs;
  readonly expected: Uint8Array;
  readonly threads: number;
}

/**
 * Request to a measuring thread to measure one program. `program`: id of the program. `tile`: tile program,
 * present only in the first request with the id.
 */
export interface MeasureRequest {
  readonly program: number;
  readonly tile?: TileFunc;
  readonly options: MeasureOptions;
}

/** Message from a measuring thread: a ready signal, or the measurement of one program. */
export type MeasureReply = { readonly ready: true } | { readonly measurement: Measurement };

const { inputs, expected, threads } = workerData as ThreadTask;
const measurer = localMeasurer({ inputs, expected }, { threads, spawn: spawnThread });
const tiles = new Map<number, TileFunc>();
const reply = (message: MeasureReply): void => parentPort?.postMessage(message);

parentPort?.on("message", ({ program, tile = tiles.get(program), options }: MeasureRequest) => {
  if (tile === undefined) throw new RangeError(`program ${program} was never sent`);
  tiles.set(program, tile);
  void measurer.measure(tile, options).then((measurement) => {
    reply({ measurement });
  });
});
reply({ ready: true });
