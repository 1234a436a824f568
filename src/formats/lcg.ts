/** Largest seed of random numbers: the state that a seed begins has 32 bits. */
export const maxSeed = 2 ** 32 - 1;

/** s <- (1664525 s + 1013904223) mod 2^32; each draw is s / 2^32 after the step. */
export function lcg(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
