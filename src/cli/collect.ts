/** The parser of a repeatable flag: appends the value to those given before. */
export const collect = (value: string, list: readonly string[] = []): string[] => [...list, value];
