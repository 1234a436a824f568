/** Clocks in milliseconds, of Node. */

export const wallMs = (): number => performance.now();

/** CPU time of all threads of the process: other processes that want the same cores hardly change it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
