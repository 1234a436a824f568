/** Makes a value once, and remembers a failure as well: a damaged tensor may be used a thousand times. */
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
