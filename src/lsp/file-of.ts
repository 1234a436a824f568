/** The path behind a document's URI. */
import { fileURLToPath } from "node:url";

/**
 * Returns the name of a document in diagnostics: its path, or its URI if it has no path on this machine.
 * Examples without a path: `file://host/a.tir`, `%2F` in a name.
 */
export function fileOf(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}
