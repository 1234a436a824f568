/** Work as numbers that no machine changes: elements that list methods walk, members of sets, characters that texts are searched for. */

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** What each call costs, by the object that has the method. */
const costs: readonly (readonly [object, readonly string[], (self: unknown, result: unknown) => number])[] = [
  [
    Array.prototype,
    ["map", "flatMap", "filter", "find", "findIndex", "findLastIndex", "some", "every", "slice", "reduce"],
    (self) => (self as readonly unknown[]).length,
  ],
  [Set.prototype, ["has", "add"], () => 1],
  [String.prototype, ["replaceAll", "includes"], (self) => (self as string).length],
  [String.prototype, ["slice"], (_, result) => (result as string).length],
  [RegExp.prototype, ["exec"], (_, result) => (result as readonly string[] | null)?.[0]?.length ?? 1],
];

/** The work of an action, and not its time. */
export function countWork(action: () => void): number {
  let work = 0;
  const undo = costs.flatMap(([owner, names, costOf]) =>
    names.map((name) => {
      const kept = Object.getOwnPropertyDescriptor(owner, name);
      if (kept === undefined) throw new Error(`no method ${name}`);
      const original = kept.value as Method;
      Object.defineProperty(owner, name, {
        ...kept,
        value: function (this: unknown, ...args: unknown[]) {
          const result = original.apply(this, args);
          work += costOf(this, result);
          return result;
        },
      });
      return () => {
        Object.defineProperty(owner, name, kept);
      };
    }),
  );
  try {
    action();
  } finally {
    for (const restore of undo) restore();
  }
  return work;
}
