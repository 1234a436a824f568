/** A worker as functions: one answer a question, progress on the way, and an end when it is stopped. */
import type { Diagnostic } from "../../../ir/index.js";
import type { FromWorker, Kind, ToWorker, Work } from "./messages.js";

/**
 * Error of a worker request that was refused because of the user's program or file. `diagnostics` gives the
 * reasons.
 */
export class Refused extends Error {
  override readonly name = "Refused";
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(({ code, message }) => `${code}: ${message}`).join("\n"));
  }
}

/** Error of a worker request that was stopped through the abort signal. */
export class Stopped extends Error {
  override readonly name = "Stopped";
}

/** Progress of a worker request: `done` of `total` steps, and a label for the current work. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

/**
 * Options of a worker request: a signal that stops the request, and a callback that receives the progress.
 */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

interface Waiting {
  readonly message: ToWorker;
  readonly resolve: (answer: never) => void;
  readonly reject: (reason: Error) => void;
  readonly onProgress: CallOptions["onProgress"];
}

/** Milliseconds that work has to end by itself once it was stopped; then its worker is ended. */
const patience = 150;

/**
 * Client of a web worker: sends requests and returns a promise for each answer. The worker starts at the
 * first request, and is replaced if a stopped request does not end within 150 ms.
 */
export class Client {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  constructor(private readonly spawn: () => Worker) {}

  call<K extends Kind>(
    kind: K,
    ask: Work[K]["ask"],
    { signal, onProgress }: CallOptions = {},
  ): Promise<Work[K]["answer"]> {
    const id = ++this.last;
    const answer = new Promise<Work[K]["answer"]>((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(new Stopped());
        return;
      }
      const message = { id, kind, ask };
      this.waiting.set(id, { message, resolve, reject, onProgress });
      this.send(message);
    });
    signal?.addEventListener("abort", () => {
      this.stop(id);
    });
    return answer;
  }

  private send(message: ToWorker): void {
    this.worker ??= this.started();
    this.worker.postMessage(message);
  }

  private started(): Worker {
    const worker = this.spawn();
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
      this.receive(data);
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      const why = new Error(event.message === "" ? "the worker did not start" : event.message);
      this.end();
      const all = [...this.waiting.values()];
      this.waiting.clear();
      for (const { reject } of all) reject(why);
    });
    return worker;
  }

  private receive(message: FromWorker): void {
    const found = this.waiting.get(message.id);
    if (found === undefined) return;
    if (message.state === "progress") {
      found.onProgress?.(message);
      return;
    }
    this.waiting.delete(message.id);
    switch (message.state) {
      case "done":
        found.resolve(message.answer as never);
        break;
      case "stopped":
        found.reject(new Stopped());
        break;
      case "refused":
        found.reject(new Refused(message.diagnostics));
        break;
      case "failed":
        found.reject(new Error(message.message));
        break;
    }
  }

  /**
   * Stops a request. If the worker does not stop in time, the worker is ended and its other requests are sent
   * to a new one.
   */
  private stop(id: number): void {
    if (!this.waiting.has(id)) return;
    this.send({ id, kind: "stop" });
    setTimeout(() => {
      const stopped = this.waiting.get(id);
      if (stopped === undefined) return;
      this.waiting.delete(id);
      this.end();
      stopped.reject(new Stopped());
      for (const { message } of this.waiting.values()) this.send(message);
    }, patience);
  }

  private end(): void {
    this.worker?.terminate();
    this.worker = undefined;
  }
}
