/**
 * Returns a function that calls `make` at its first call, and afterwards returns the same value. If `make`
 * throws, every call throws the same error.
 */
export function once<T>(make: () => T): () => T {
  let state: { readonly value: T } | { readonly thrown: unknown } | undefined;
  return () => {
    if (state === undefined) {
      try {
        state = { value: make() };
      } catch (thrown) {
        state = { thrown };
      }
    }
    if ("thrown" in state) throw state.thrown;
    return state.value;
  };
}
