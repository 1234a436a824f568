/** Largest number of threads of a fast executor. */
export const maxThreads = 64;
