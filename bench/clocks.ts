/** Clocks in milliseconds, of Node. */

/** Returns a timestamp of a monotonic wall clock in milliseconds. */
export const wallMs = (): number => performance.now();

/** Returns the CPU time that all threads of the process have used, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
