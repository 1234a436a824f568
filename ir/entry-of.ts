/** Records by words that users chose. */

/**
 * Returns the entry of a record for a word that a user chose as key; undefined if the record has no such
 * entry. Inherited members such as `constructor` are not entries.
 */
export const entryOf = <T>(record: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(record, word) ? record[word] : undefined;

/**
 * Returns the entry of a record under `key` or, if there is none, under `name`; undefined if neither exists.
 * `name` is not used if it is one of `keys`, because the entry then belongs to another key.
 */
export const entryCalled = <T>(
  record: Readonly<Record<string, T>>,
  { key, name = key }: { readonly key: string; readonly name?: string },
  keys: readonly string[],
): T | undefined => entryOf(record, key) ?? (keys.includes(name) ? undefined : entryOf(record, name));
