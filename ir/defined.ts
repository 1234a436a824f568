/**
 * Objects without the members that are undefined: `exactOptionalPropertyTypes` tells an absent member from
 * one of no value.
 */

/** Type `T` in which each member that can be undefined is optional instead. */
export type Defined<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns an object with the properties of `members` that are not undefined, in unchanged order. */
export function defined<T extends object>(members: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const name in members) if (members[name] !== undefined) kept[name] = members[name];
  return kept as Defined<T>;
}
