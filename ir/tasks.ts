/** The nest of a body, for backends that have no task at hand yet. */
export { hasOpenTrips, parallelNest, type ParallelLoop, type ParallelNest } from "./task/nest.js";
