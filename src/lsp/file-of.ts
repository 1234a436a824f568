/** The path behind a document's URI. */
import { fileURLToPath } from "node:url";

/** What diagnostics call a document: its path, or its URI where it has none on this machine (`file://host/a.tir`, `%2F` in a name). */
export function fileOf(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}
