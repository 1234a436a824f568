/** Names of the text form for things that are called otherwise elsewhere: `\w+`, and each one once. */
export class Symbols {
  private readonly taken = new Set<string>();
  private readonly following = new Map<string, number>();

  /** A name that nothing has yet, from the first of these that leaves one. */
  next(...names: readonly string[]): string {
    const base = names.map(symbol).find((name) => name !== "") ?? "unnamed";
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

const symbol = (name: string): string =>
  name
    .slice(0, longest)
    .replaceAll(/\W+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
