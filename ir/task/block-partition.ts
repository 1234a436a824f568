/** Block partition of tasks among cores. */

/** Range of consecutive tasks in program order, from `from` up to but not including `to`. */
export interface TaskRange {
  readonly from: number;
  readonly to: number;
}

/** Returns the tasks of core number `core` under a block partition of `tasks` tasks over `cores` cores. */
export function blockPartition(tasks: number, cores: number, core: number): TaskRange {
  const each = Math.floor(tasks / cores);
  const more = tasks % cores;
  const from = core * each + Math.min(core, more);
  return { from, to: from + each + (core < more ? 1 : 0) };
}
