/** Work between error scopes of its own. */

/** Error that a device reported for refused work. */
export interface Refusal {
  readonly kind: GPUErrorFilter;
  /** Message of the device. */
  readonly message: string;
}

/** A cause before what it entails: an argument is invalid because there was no memory for it. */
const kinds = ["out-of-memory", "internal", "validation"] as const satisfies readonly GPUErrorFilter[];

/**
 * Calls `action` in new error scopes of the device. Returns the value of the call, and a promise of the first
 * device error (undefined without error). The promise never rejects.
 */
export function scoped<T>(
  device: GPUDevice,
  action: () => T,
): { readonly value: T; readonly refusal: Promise<Refusal | undefined> } {
  for (const kind of kinds) device.pushErrorScope(kind);
  let errors: readonly Promise<GPUError | null>[] = [];
  let value: T;
  try {
    value = action();
  } finally {
    // It rejects on a lost device alone, and the loss is told by `device.lost`.
    errors = kinds.map(() => device.popErrorScope().catch(() => null)).reverse();
  }
  return { value, refusal: firstOf(errors) };
}

/**
 * Resolves to the error of the first scope that caught an error, with the error's kind; undefined if there is
 * none. The order of scopes is the order of `kinds`.
 */
async function firstOf(errors: readonly Promise<GPUError | null>[]): Promise<Refusal | undefined> {
  const caught = await Promise.all(errors);
  const [refusal] = kinds.flatMap((kind, k) => {
    const error = caught[k];
    return error === undefined || error === null ? [] : [{ kind, message: error.message }];
  });
  return refusal;
}
