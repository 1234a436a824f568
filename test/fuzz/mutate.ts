/** Numbers, damaged bytes and nonsense text from a seed. */
export type Draw = (limit: number) => number;

/** Uniform in [0, limit); 0 for a limit of 0. */
export function drawer(seed: number): Draw {
  let state = (seed ^ 0x5bd1e995) >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return limit <= 0 ? 0 : (state >>> 8) % limit;
  };
}

/** One to four edits: a byte changed, cut, inserted; a run left out or repeated elsewhere. */
export function mutated(bytes: Uint8Array, draw: Draw): Uint8Array {
  let out = bytes.slice();
  const edits = 1 + draw(4);
  for (let k = 0; k < edits; k++) {
    const place = draw(out.length + 1);
    switch (draw(5)) {
      case 0:
        if (place < out.length) out[place] = draw(256);
        break;
      case 1:
        // Truncation leaves little to test, so it is rare.
        if (draw(4) === 0) out = out.slice(0, place);
        break;
      case 2:
        out = Uint8Array.from([...out.slice(0, place), draw(256), ...out.slice(place)]);
        break;
      case 3: {
        const end = Math.min(out.length, place + draw(16));
        out = Uint8Array.from([...out.slice(0, place), ...out.slice(end)]);
        break;
      }
      default: {
        const from = draw(out.length + 1);
        out = Uint8Array.from([...out.slice(0, place), ...out.slice(from, from + 24), ...out.slice(place)]);
      }
    }
  }
  return out;
}

const tokens = (text: string): string[] =>
  text.match(/\d+(?:x\d+)*x[a-z]\w*|\w+(?:\.\w+)*|%\w+|@\w+|"[^"]*"|->|\s+|[^\s\w]/g) ?? [];

const numbers = ["0", "1", "2", "3", "5", "8", "31", "64", "-1", "2147483647", "2147483648", "99999999999"];
const words = [
  "f32 i64 u8 c128 string bool tensor gm ub for load gather store sync alloc min to step parallel serial lag",
  "from_end oob error clamp zero wrap unchecked origin scratch paired data_tile indices_tile tile view order cores",
  "profile strict head residency auto buffers budget_rule spec full ub_bytes target schedule return func MTE2 V MTE3 S",
  "axis batch_dims dim opset constructor __proto__ toString d0 d1 d9 onnx.gather onnx.gather_nd access.gather",
].flatMap((line) => line.split(" "));

/** Whole tokens changed, so that more of the results still parse: numbers, words, names, a token left out or moved. */
export function mutatedText(text: string, draw: Draw): string {
  const list = tokens(text);
  const edits = 1 + draw(3);
  for (let k = 0; k < edits; k++) {
    const place = draw(list.length);
    const token = list[place] ?? "";
    switch (draw(6)) {
      case 0:
      case 1: {
        // A number somewhere after the place drawn.
        const at = list.findIndex((other, j) => j >= place && /^\d+$/.test(other));
        if (at !== -1) list[at] = numbers[draw(numbers.length)] ?? "";
        break;
      }
      case 2:
        if (/^\d+(x\d+)*x[a-z]/.test(token)) list[place] = token.replace(/\d+/, numbers[draw(8)] ?? "");
        else if (/^[a-z]/i.test(token)) list[place] = words[draw(words.length)] ?? "";
        else list[place] = list[draw(list.length)] ?? "";
        break;
      case 3:
        list.splice(place, 1 + draw(3));
        break;
      case 4:
        list.splice(place, 0, ...list.slice(draw(list.length)).slice(0, 1 + draw(8)));
        break;
      default:
        // Another place's token of the same kind: one name, or one dim, for another.
        if (token.trim() !== "") {
          const like = list.filter((other) => other[0] === token[0]);
          list[place] = like[draw(like.length)] ?? token;
        }
    }
  }
  return list.join("");
}

/** A tensor with a dim more or less, or a map with one more or less: most such programs name dims that the other side lacks. */
export function withOtherRank(text: string, draw: Draw): string {
  const shapes = [...text.matchAll(/(?<=tensor<)(?:\w+x)*(?=[a-z]+\d*>)/g)];
  const dims = [...text.matchAll(/(?<=\()(?:d\d+(?:, )?)*(?=\) (?:let|->))/g)];
  const places = [...shapes, ...dims];
  const place = places[draw(places.length)];
  if (place === undefined) return text;
  const [found] = place;
  const isShape = shapes.includes(place);
  const parts = found.split(isShape ? /(?<=x)/ : ", ").filter((part) => part !== "");
  const extent = `${numbers[draw(6)] ?? ""}x`;
  const shorter = draw(2) === 0 && parts.length > 0;
  const other = isShape
    ? (shorter ? parts.slice(draw(2), draw(2) === 0 ? -1 : undefined) : [...parts, extent]).join("")
    : Array.from({ length: parts.length + (shorter ? -1 : 1) }, (_, d) => `d${d}`).join(", ");
  return text.slice(0, place.index) + other + text.slice(place.index + found.length);
}

/** Words, numbers and punctuation in no order. */
export function nonsense(draw: Draw): string {
  const marks = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ":",
    "=",
    "->",
    "+",
    "-",
    "%x",
    "@g",
    '"',
    "//",
    "\n",
  ];
  const pools = [words, numbers, marks, marks];
  return Array.from({ length: draw(60) }, () => {
    const pool = pools[draw(pools.length)] ?? marks;
    return pool[draw(pool.length)] ?? "";
  }).join(draw(3) === 0 ? "" : " ");
}

/** Lines that end in CRLF, some or all of them. */
export const withOtherEnds = (text: string, draw: Draw): string => {
  const every = draw(2) === 0;
  return text.replaceAll("\n", () => (every || draw(2) === 0 ? "\r\n" : "\n"));
};
