/** A device up to its loss. */
import type { RunError } from "../../ir/diagnostic.js";
import { deviceLost } from "./errors.js";

export class Lifetime {
  private loss: string | undefined;
  private readonly waiting = new Set<(reason: RunError) => void>();

  constructor(device: GPUDevice) {
    void device.lost.then(({ message }) => {
      this.loss = message;
      for (const reject of this.waiting) reject(deviceLost(message));
    });
  }

  /** Throws a RunError (TC504) once the device is lost. */
  check(): void {
    if (this.loss !== undefined) throw deviceLost(this.loss);
  }

  /**
   * What `work` comes to, or a RunError (TC504) as soon as the device is lost: implementations differ in whether work on
   * a lost device resolves, rejects or never ends.
   */
  until<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.loss !== undefined) reject(deviceLost(this.loss));
      this.waiting.add(reject);
      void work.then(resolve, reject).finally(() => this.waiting.delete(reject));
    });
  }
}
