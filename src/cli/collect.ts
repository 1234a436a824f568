/** Parser of a flag that may be repeated: returns the earlier values with the new value at the end. */
export const collect = (value: string, list: readonly string[] = []): string[] => [...list, value];
