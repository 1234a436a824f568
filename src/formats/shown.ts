const longest = 60;

/** A value of a file in a message: short, and no deeper than one level, whatever the file holds. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, longest)) : String(value);
  return typeof value === "string" && value.length > longest ? `${text}…` : text;
}
