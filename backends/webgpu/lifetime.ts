/** A device up to its loss. */
export class DeviceLifetime {
  private loss: string | undefined;
  private readonly waiting = new Set<(reason: Error) => void>();

  /** `deviceLost`: the error for the device's own message, which may be empty. */
  constructor(
    device: GPUDevice,
    private readonly deviceLost: (message: string) => Error,
  ) {
    void device.lost.then(({ message }) => {
      this.loss = message;
      for (const reject of this.waiting) reject(this.deviceLost(message));
    });
  }

  /** Throws that error once the device is lost. */
  check(): void {
    if (this.loss !== undefined) throw this.deviceLost(this.loss);
  }

  /**
   * What `work` comes to, or that error as soon as the device is lost: implementations differ in whether work on
   * a lost device resolves, rejects or never ends.
   */
  until<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.loss !== undefined) reject(this.deviceLost(this.loss));
      this.waiting.add(reject);
      void work.then(resolve, reject).finally(() => this.waiting.delete(reject));
    });
  }
}
