/** Clocks in milliseconds, of Node. */

/** Returns the wall-clock time in milliseconds. */
export const wallMs = (): number => performance.now();

/**
 * Returns the CPU time of all threads of the process, in milliseconds. Other processes that compete for the
 * cores hardly change it.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
