/** Facts that follow from data that never changes. */

/**
 * Returns a function that derives a fact of an object once. Programs, maps and operands never change, so that a fact holds as long as its
 * object lives, and goes with it: no caller has to carry it, and none has to drop it.
 */
export function derivedOnce<K extends object, V extends object | boolean | string>(
  derive: (of: K) => V,
): (of: K) => V {
  // Weak: a fact must not keep alive the program that it is of.
  const cached = new WeakMap<K, V>();
  return (of) => {
    const existing = cached.get(of);
    if (existing !== undefined) return existing;
    const value = derive(of);
    cached.set(of, value);
    return value;
  };
}
