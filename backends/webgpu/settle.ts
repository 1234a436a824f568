/** Work on a device from its beginning to its end. */
import { refusalError } from "./errors.js";
import type { DeviceLifetime } from "./lifetime.js";
import { scoped } from "./scoped.js";

/** Says whose mistake a validation error is. */
export type AtFault = (message: string) => Error | Promise<Error>;

/** Begins work within the call and waits for its end. Rejects with what the device refused of it, and once the device is lost. */
export async function settle<T>(
  device: GPUDevice,
  lifetime: DeviceLifetime,
  begin: () => Promise<T>,
  atFault: AtFault,
): Promise<T> {
  const { value, refusal } = scoped(device, begin);
  const [[ended], refused] = await lifetime.until(Promise.all([Promise.allSettled([value]), refusal]));
  if (refused !== undefined) throw await refusalError(refused, atFault);
  if (ended.status === "rejected") throw ended.reason;
  return ended.value;
}
