/** Records by words that users chose. */

/**
 * Returns the own property of an object with key `word`; undefined if there is none. Inherited members such
 * as `constructor` are not returned.
 */
export const entryOf = <T>(record: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(record, word) ? record[word] : undefined;

/**
 * Returns the value in `record` for one operand: under its `key`, or else under its `name`, unless that name
 * is the key of another operand. Undefined if there is no such value. `operands`: all operands.
 */
export const entryCalled = <T>(
  record: Readonly<Record<string, T>>,
  { key, name = key }: { readonly key: string; readonly name?: string },
  operands: readonly { readonly key: string }[],
): T | undefined =>
  entryOf(record, key) ?? (operands.some((other) => other.key === name) ? undefined : entryOf(record, name));
