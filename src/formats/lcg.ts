/** Largest seed of random numbers. A seed is an integer from 0 to this value, both included. */
export const maxSeed = 2 ** 32 - 1;

/**
 * Returns a generator of pseudo-random numbers in [0, 1): state s becomes (1664525 s + 1013904223) mod 2^32,
 * and the call returns s / 2^32. `seed`: first state, an integer of 32 bits.
 */
export function lcg(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
