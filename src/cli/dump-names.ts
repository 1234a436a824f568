/** Far below what file systems take, with room for a backend's name and an ending; UTF-8. */
const mostBytes = 200;

/**
 * A name for each test's dumps: its id with "/" as "_", made safe for file systems and short, and no name twice.
 */
export function dumpNames(ids: readonly string[]): string[] {
  const taken = new Set<string>();
  return ids.map((id) => {
    const plain = fileName(id);
    let name = plain;
    for (let n = 2; taken.has(name); n++) name = `${plain}~${n}`;
    taken.add(name);
    return name;
  });
}

/** Control characters and halves of a surrogate pair are no part of a file's name; a backslash parts folders somewhere. */
function fileName(id: string): string {
  const safe = id.replaceAll(/[/\\\p{Cc}\p{Cs}]/gu, "_");
  const bytes = new TextEncoder().encode(safe);
  return bytes.length <= mostBytes
    ? safe
    : new TextDecoder().decode(bytes.subarray(0, mostBytes)).replace(/\ufffd+$/, "");
}
