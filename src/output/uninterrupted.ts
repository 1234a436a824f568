const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Returns the result of an action that a signal must not interrupt. A SIGINT, SIGTERM or SIGHUP without a
 * listener ends the process after the action.
 */
export function uninterrupted<T>(action: () => T): T {
  const blocked = signals.filter((signal) => process.listenerCount(signal) === 0);
  let late: NodeJS.Signals | undefined;
  const hold = (signal: NodeJS.Signals): void => {
    late ??= signal;
  };
  for (const signal of blocked) process.on(signal, hold);
  const release = (): void => {
    for (const signal of blocked) process.off(signal, hold);
    if (late !== undefined && process.listenerCount(late) === 0) process.kill(process.pid, late);
  };
  try {
    return action();
  } finally {
    // Signals are delivered where the loop waits for events, which it has done once between two immediates.
    if (blocked.length > 0) setImmediate(() => setImmediate(release));
  }
}
