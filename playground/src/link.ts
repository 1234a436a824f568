/**
 * The page's state in the fragment of its address: compressed, and read as something that anybody may have
 * written.
 */
import type { DType } from "../../ir/index.js";
import type { TensorValue } from "../../src/formats/tensor.js";
import { emptyState, isObject, maxText, tabs, type Inputs, type PageState } from "./page-state.js";

const version = "1.";
/** Bytes that a fragment may unpack to: more is no program but an attack on memory. */
const maxBytes = 2 ** 20;
/** Bytes of the tensors that a link holds; larger ones stay behind. */
const maxTensorBytes = 2 ** 14;

/**
 * Returns the names of the functions whose inputs a link leaves out, because the inputs exceed 16 KiB in
 * total. When the link is opened, such inputs are random.
 */
export const leftBehind = ({ inputs }: PageState): readonly string[] =>
  Object.entries(inputs).flatMap(([name, tensors]) => (isSmall(tensors) ? [] : [name]));

const isSmall = (tensors: Inputs): boolean =>
  Object.values(tensors).reduce(
    (sum, { bytes, strings = [] }) => sum + bytes.byteLength + strings.join().length,
    0,
  ) <= maxTensorBytes;

/**
 * Resolves to the URL fragment that stores the page's state, compressed and encoded as URL-safe base64.
 * Inputs of a function are left out if larger than 16 KiB in total.
 */
export async function fragmentOf(state: PageState): Promise<string> {
  const inputs = Object.entries(state.inputs)
    .filter(([, tensors]) => isSmall(tensors))
    .map(([name, tensors]) => [
      name,
      Object.entries(tensors).map(([key, { type, bytes, strings }]) => [key, type, toBase64(bytes), strings]),
    ]);
  const json = new TextEncoder().encode(JSON.stringify({ ...state, inputs }));
  const packed = await bytesOf(new Blob([json]).stream().pipeThrough(new CompressionStream("deflate-raw")));
  return (
    version +
    toBase64(packed ?? new Uint8Array())
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "")
  );
}

/**
 * Resolves to the page state that a URL fragment stores. Resolves to undefined if the fragment is malformed,
 * has another version, unpacks to more than 1 MiB, or has no valid program text.
 */
export async function stateOf(fragment: string): Promise<PageState | undefined> {
  if (!fragment.startsWith(version)) return undefined;
  try {
    const packed = fromBase64(fragment.slice(version.length).replaceAll("-", "+").replaceAll("_", "/"));
    const json = await bytesOf(
      new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")),
    );
    return json === undefined ? undefined : checked(JSON.parse(new TextDecoder().decode(json)));
  } catch {
    return undefined;
  }
}

/**
 * Converts the parsed JSON of a link to a page state. Returns undefined if the JSON has no valid program
 * text. Other invalid fields get default values.
 */
function checked(value: unknown): PageState | undefined {
  if (!isObject(value)) return undefined;
  const { text, func, sizes, tab, seed, inputs } = value;
  if (typeof text !== "string" || text.length > maxText) return undefined;
  return {
    text,
    ...(typeof func === "string" ? { func } : {}),
    sizes: Object.fromEntries(
      Object.entries(isObject(sizes) ? sizes : {}).filter(
        (entry): entry is [string, number] => typeof entry[1] === "number",
      ),
    ),
    tab: tabs.find((known) => known === tab) ?? emptyState.tab,
    seed: typeof seed === "number" && Number.isSafeInteger(seed) ? seed : emptyState.seed,
    inputs: Object.fromEntries(
      listOf(inputs).map(([name, tensors]) => [
        String(name),
        Object.fromEntries(listOf(tensors).flatMap(tensorFrom)),
      ]),
    ),
  };
}

const listOf = (value: unknown): readonly (readonly unknown[])[] =>
  Array.isArray(value) ? value.filter((entry): entry is readonly unknown[] => Array.isArray(entry)) : [];

/**
 * Parses an input tensor that a link stores as `[key, type, base64, strings]`. Returns a list with the pair
 * `[key, tensor]`, or an empty list if a part has the wrong JSON type. Throws a DOMException for invalid
 * base64.
 */
function tensorFrom([key, type, base64, strings]: readonly unknown[]): (readonly [string, TensorValue])[] {
  if (typeof key !== "string" || !isObject(type) || typeof base64 !== "string") return [];
  const { dtype, shape } = type;
  if (typeof dtype !== "string" || !Array.isArray(shape) || !shape.every(Number.isSafeInteger)) return [];
  const value = { type: { dtype: dtype as DType, shape: shape as number[] }, bytes: fromBase64(base64) };
  const isStrings = Array.isArray(strings) && strings.every((entry) => typeof entry === "string");
  return [[key, isStrings ? { ...value, strings } : value]];
}

const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

/**
 * Resolves to all bytes of a stream, or to undefined if the stream has more than 1 MiB. Rejects if the stream
 * fails.
 */
async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.byteLength;
    if (length > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(next.value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}
