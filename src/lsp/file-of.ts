/** The path behind a document's URI. */
import { fileURLToPath } from "node:url";

/**
 * Returns the name that diagnostics use for a document: its path, or its URI if it has no path on this
 * machine. `file://host/a.tir`, for example, has no path here, nor has a URI with `%2F` in a name.
 */
export function fileOf(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}
