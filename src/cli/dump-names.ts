/** Far below what file systems take, with room for a backend's name and an ending; UTF-8. */
const mostBytes = 200;

/**
 * A name for each test's dumps: its id with "/" as "_", made safe for file systems and short, and no name twice, whatever the case of
 * its letters.
 */
export function dumpNames(ids: readonly string[]): string[] {
  const taken = new Set<string>();
  const key = (name: string): string => name.normalize("NFC").toLowerCase();
  return ids.map((id) => {
    const plain = fileName(id);
    let name = plain;
    for (let n = 2; taken.has(key(name)); n++) name = `${plain}~${n}`;
    taken.add(key(name));
    return name;
  });
}

/** Devices of Windows, whatever ending follows: learn.microsoft.com, "Naming Files, Paths, and Namespaces". */
const device = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(?=\.|$)/i;

/** Control characters, halves of a surrogate pair and what Windows reserves are no part of a file's name. */
function fileName(id: string): string {
  const safe = id.replaceAll(/[/\\<>:"|?*\p{Cc}\p{Cs}]/gu, "_").replace(device, "_$&");
  const bytes = new TextEncoder().encode(safe);
  return bytes.length <= mostBytes
    ? safe
    : new TextDecoder().decode(bytes.subarray(0, mostBytes)).replace(/\ufffd+$/, "");
}
