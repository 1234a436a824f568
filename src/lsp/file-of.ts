/** The path behind a document's URI. */
import { fileURLToPath } from "node:url";

/**
 * Returns the name that diagnostics use for a document: its path, or its URI if no path on this machine
 * corresponds to the URI. URIs without a path are for example `file://host/a.tir` and URIs with `%2F` in a
 * name.
 */
export function fileOf(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}
