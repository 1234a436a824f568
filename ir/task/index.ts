/** The task of a tile program: its parallel nest, what feeds the gather, and how tasks are dealt. */
export { dealt, type TaskRange } from "./dealt.js";
export { hasOpenTrips, nestAt, type ParallelLoop, type ParallelNest } from "./nest.js";
export { statementsOf, type Located } from "./statements.js";
export { outputRegion, taskOfTile, tensorRegion, type Task } from "./task.js";
