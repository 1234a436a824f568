/** Message for an error that a module threw while it was loaded. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Returns the reason for which a module failed to load: the line number if known, then the first line of the
 * error message, for example `line 3: x is not defined`.
 */
export function whyNotLoaded(thrown: unknown, file: string): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const [message = ""] = thrown.message.split("\n");
  const stack = thrown.stack ?? "";
  // A syntax error names the file as a path or a URL, without a frame.
  const path = resolve(file);
  const line = [pathToFileURL(path).href, path].flatMap((place) => {
    const [, number] = stack.split(place)[1]?.match(/^:(\d+)/) ?? [];
    return number ?? [];
  })[0];
  return line === undefined ? message : `line ${line}: ${message}`;
}
