/** The task of a tile program: its parallel nest, what feeds the gather, and how tasks are dealt. */
export { blockPartition, type TaskRange } from "./block-partition.js";
export { hasDynamicTrips, nestAt, type ParallelLoop, type ParallelNest } from "./nest.js";
export { statementsOf, type Located } from "./statements.js";
export { outputRegion, taskOfTile, tensorRegion, type Task } from "./task.js";
