/** The path behind a document's URI. */
import { fileURLToPath } from "node:url";

/**
 * Returns the name that diagnostics use for a document: a path, or the URI of a document without a path on
 * the local machine.
 */
export function fileOf(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}
