/** What a thread that measures candidates runs in Node; it may be ended in the middle of one. */
import { parentPort, workerData } from "node:worker_threads";
import type { HostInputs } from "../../backends/index.js";
import type { TileFunc } from "../../ir/index.js";
import { localMeasurer } from "../tune/local-measurer.js";
import type { MeasureOptions, Measurement } from "../tune/search-ms.js";
import { spawnThread } from "./threads.js";

export interface ThreadTask {
  readonly inputs: HostInputs;
  readonly expected: Uint8Array;
  readonly threads: number;
}

/** `tile` comes with the first request for a program, which later ones name. */
export interface MeasureRequest {
  readonly program: number;
  readonly tile?: TileFunc;
  readonly options: MeasureOptions;
}

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
