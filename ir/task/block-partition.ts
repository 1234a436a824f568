/** Block partition of tasks among cores. */

/** Range [from, to) of tasks, in program order. */
export interface TaskRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the tasks of a core under a block partition. Each core runs consecutive tasks, and the first `tasks
 * % cores` cores run one more.
 */
export function blockPartition(tasks: number, cores: number, core: number): TaskRange {
  const each = Math.floor(tasks / cores);
  const more = tasks % cores;
  const from = core * each + Math.min(core, more);
  return { from, to: from + each + (core < more ? 1 : 0) };
}
