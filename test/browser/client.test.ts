/** The page's workers as functions, over one that never ends what it does by itself. */
import { describe, expect, it } from "vitest";
import { Client, Stopped } from "../../playground/src/jobs/client.js";
import type { FromWorker, ToWorker } from "../../playground/src/jobs/messages.js";

/** Answers `vocabulary` alone, and nothing behind a question that it is at. */
class Busy extends EventTarget {
  ended = false;
  private busy = false;

  postMessage(message: ToWorker): void {
    if (message.kind === "stop" || this.busy) return;
    if (message.kind === "vocabulary") this.say({ id: message.id, state: "done", answer: "words" });
    else this.busy = true;
  }

  terminate(): void {
    this.ended = true;
  }

  private say(data: FromWorker): void {
    queueMicrotask(() => {
      if (!this.ended) this.dispatchEvent(new MessageEvent("message", { data }));
    });
  }
}

describe("work that is stopped", () => {
  it("ends with its worker, and what else was asked is answered by the next", async () => {
    const workers: Busy[] = [];
    const client = new Client(() => {
      const worker = new Busy();
      workers.push(worker);
      return worker as unknown as Worker;
    });
    const controller = new AbortController();
    const stopped = client.call("example", { id: "any" }, { signal: controller.signal });
    const other = client.call("vocabulary", null);
    controller.abort();
    await expect(stopped).rejects.toBeInstanceOf(Stopped);
    expect(await other).toBe("words");
    expect(workers.map(({ ended }) => ended)).toEqual([true, false]);
  });
});
