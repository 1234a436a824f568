/** Source of unique identifiers (letters, digits and `_`) made from arbitrary names. */
export class UniqueNames {
  private readonly taken: Set<string>;
  private readonly following = new Map<string, number>();

  /** `taken`: names that are never given. */
  constructor(taken: Iterable<string> = []) {
    this.taken = new Set(taken);
  }

  /**
   * Returns a name that nothing has yet, and takes it. It is the first of the wanted names that has a letter
   * or digit, cut to 100 characters, with a number behind it where that name is taken; `unnamed` where none
   * has.
   */
  next(...wanted: readonly string[]): string {
    const base = wanted.map(wordOf).find((name) => name !== "") ?? "unnamed";
    let name = base;
    // Counting on from the last number keeps a list of equal names linear.
    for (let n = this.following.get(base) ?? 2; this.taken.has(name); n++) {
      name = `${base}_${n}`;
      this.following.set(base, n + 1);
    }
    this.taken.add(name);
    return name;
  }
}

const longest = 100;

const wordOf = (name: string): string =>
  name
    .slice(0, longest)
    .replaceAll(/\W+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
