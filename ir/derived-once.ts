/** Facts that follow from data that never changes. */

/**
 * Returns a function that computes a value from an object once and caches the value as long as the object
 * lives. `derive`: computes the value.
 */
export function derivedOnce<K extends object, V>(derive: (of: K) => V): (of: K) => V {
  // Weak: a fact must not keep alive the program that it is of.
  const cached = new WeakMap<K, { readonly value: V }>();
  return (of) => {
    const existing = cached.get(of);
    if (existing !== undefined) return existing.value;
    const value = derive(of);
    cached.set(of, { value });
    return value;
  };
}
