/** JSON values with a few of their parts left out, renamed, replaced, misspelt or nested otherwise. */
import type { Draw } from "../fuzz/mutate.js";

const odd: readonly unknown[] = [
  ...[null, true, [], {}, [[1]], "", "constructor", "2", "ok", "map", "gm", "a.json", "a.json\n"],
  ...[-1, 0, 1, 2, 0.5, -0.5, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 60, 1e300, Infinity],
  ...[
    ["a"],
    [0.5],
    [-1],
    { data: "ub" },
    { data: 3 },
    { error: "axis" },
    { error: "attribute" },
    { error: 5 },
  ],
];

type Place = readonly [holder: Record<string, unknown>, key: string];

/** Of lists as well, whose keys are indices. */
function placesIn(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder)
    .slice(0, 30)
    .flatMap((key): Place[] => [[holder, key], ...placesIn(holder[key])]);
}

function misspelt(word: string, draw: Draw): string {
  const k = draw(word.length);
  const ways = [`${word.slice(0, k)}${word.slice(k + 1)}`, word.toUpperCase(), `${word}s`, "zzzzzzzzzzzz"];
  return ways[draw(ways.length)] ?? word;
}

const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Copies of `value` in each of which one part is left out or replaced by an odd value. */
export function* changedJson(value: unknown): Generator {
  const count = placesIn(value).length;
  for (let k = 0; k < count; k++) {
    for (const change of [undefined, ...odd]) {
      const copy = copyOf(value);
      const { [k]: place } = placesIn(copy);
      if (place === undefined) continue;
      const [holder, key] = place;
      if (change === undefined) remove(holder, key);
      else holder[key] = change;
      yield copy;
    }
  }
}

function remove(holder: Place[0], key: string): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else Reflect.deleteProperty(holder, key);
}

/** A copy of `value` with one to three changes. */
export function mutatedJson(value: unknown, draw: Draw): unknown {
  const copy = copyOf(value);
  for (let left = 1 + draw(3); left > 0; left--) {
    const places = placesIn(copy);
    const [place, other] = [places[draw(places.length)], places[draw(places.length)]];
    if (place === undefined || other === undefined) return copy;
    const [holder, key] = place;
    const { [key]: old } = holder;
    switch (draw(6)) {
      case 0:
        remove(holder, key);
        break;
      case 1:
        remove(holder, key);
        holder[Array.isArray(holder) ? key : misspelt(key, draw)] = old;
        break;
      case 2:
        holder[key] = typeof old === "string" ? misspelt(old, draw) : [old];
        break;
      case 3:
        holder[key] = { [draw(2) === 0 ? "data" : "error"]: old };
        break;
      case 4:
        // What belongs elsewhere.
        holder[Array.isArray(holder) ? key : other[1]] = copyOf(other[0][other[1]]);
        break;
      default:
        holder[key] = odd[draw(odd.length)];
    }
  }
  return copy;
}
