/** Records by words that users chose. */

/**
 * Returns the own property of an object with key `word`; undefined if there is none. Inherited members such
 * as `constructor` are not returned.
 */
export const entryOf = <T>(record: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(record, word) ? record[word] : undefined;

/**
 * Returns the entry for one operand, by the operand's `key` or else by `name`; undefined if there is none.
 * `keys`: keys of all operands. A `name` in `keys` is not looked up, because the entry belongs to another
 * operand.
 */
export const entryCalled = <T>(
  record: Readonly<Record<string, T>>,
  { key, name = key }: { readonly key: string; readonly name?: string },
  keys: readonly string[],
): T | undefined => entryOf(record, key) ?? (keys.includes(name) ? undefined : entryOf(record, name));
