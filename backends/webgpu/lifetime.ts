/** Observer of the loss of a WebGPU device. Its methods throw or reject once the device is lost. */
export interface DeviceLifetime {
  /** Throws the error of the loss once the device is lost. */
  check(): void;
  /**
   * Returns the result of `work`. Rejects with the error of the loss as soon as the device is lost.
   * Implementations differ in whether work on a lost device resolves, rejects or never ends.
   */
  until<T>(work: Promise<T>): Promise<T>;
}

/**
 * Returns an observer of the loss of a device. `deviceLost`: makes the error from the device's message, which
 * may be empty.
 */
export function lifetimeOf(device: GPUDevice, deviceLost: (message: string) => Error): DeviceLifetime {
  let loss: string | undefined;
  const waiting = new Set<(reason: Error) => void>();
  void device.lost.then(({ message }) => {
    loss = message;
    for (const reject of waiting) reject(deviceLost(message));
  });
  return {
    check() {
      if (loss !== undefined) throw deviceLost(loss);
    },
    until: (work) =>
      new Promise((resolve, reject) => {
        if (loss !== undefined) reject(deviceLost(loss));
        waiting.add(reject);
        void work.then(resolve, reject).finally(() => waiting.delete(reject));
      }),
  };
}
