/** Records by words that users chose. */

/**
 * Returns the entry of a record for a word that a user chose as key; undefined if the record has no such
 * entry. Inherited members such as `constructor` are not entries.
 */
export const entryOf = <T>(record: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(record, word) ? record[word] : undefined;

/**
 * Returns the entry of a record for one operand: the entry under `key` or else under `name` (by default
 * `key`). Undefined if neither exists. `keys`: keys of all operands. A `name` that is one of `keys` is not
 * looked up, because its entry belongs to another operand.
 */
export const entryCalled = <T>(
  record: Readonly<Record<string, T>>,
  { key, name = key }: { readonly key: string; readonly name?: string },
  keys: readonly string[],
): T | undefined => entryOf(record, key) ?? (keys.includes(name) ? undefined : entryOf(record, name));
