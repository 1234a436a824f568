/** Records by words that users chose. */

/**
 * Returns the entry of a record whose key is a word that a user chose; undefined if there is none. Inherited
 * members such as `constructor` do not count.
 */
export const entryOf = <T>(record: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(record, word) ? record[word] : undefined;

/**
 * Returns the entry of a record under `key`, else under the alternative `name` unless that is one of `keys`.
 * Undefined if the record has no such entry.
 */
export const entryCalled = <T>(
  record: Readonly<Record<string, T>>,
  { key, name = key }: { readonly key: string; readonly name?: string },
  keys: readonly string[],
): T | undefined => entryOf(record, key) ?? (keys.includes(name) ? undefined : entryOf(record, name));
