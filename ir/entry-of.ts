/** Records by words that users chose. */

/**
 * Returns the entry of a record by a word that a user chose; undefined where it has none. The members of every object, such as
 * `constructor`, are no entries.
 */
export const entryOf = <T>(record: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(record, word) ? record[word] : undefined;

/** Returns the entry under a key, or else under another name of the same thing, where that is none of the keys. */
export const entryCalled = <T>(
  record: Readonly<Record<string, T>>,
  { key, name = key }: { readonly key: string; readonly name?: string },
  keys: readonly string[],
): T | undefined => entryOf(record, key) ?? (keys.includes(name) ? undefined : entryOf(record, name));
