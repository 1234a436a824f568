/** Names made of contents: the same everywhere, for the same value. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** Returns the first 16 hexadecimal digits of the SHA-256 of a text (UTF-8). */
export const contentHash = (text: string): string => hashOfBytes(utf8ToBytes(text));

/** Returns the first 16 hexadecimal digits of the SHA-256 of bytes. */
export const hashOfBytes = (bytes: Uint8Array): string => bytesToHex(sha256(bytes)).slice(0, 16);

/**
 * Returns the JSON text of a value with the keys of every object sorted, so that equal values have equal
 * texts.
 */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
