/**
 * Appends the value of a repeated command-line flag to the list of its earlier values. Returns the new list.
 */
export const collect = (value: string, list: readonly string[] = []): string[] => [...list, value];
