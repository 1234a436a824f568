/** Of a flag that is repeated: every value in order. */
export const collect = (value: string, list: readonly string[] = []): string[] => [...list, value];
