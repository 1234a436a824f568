/** Bytes of UTF-8. File systems allow 255; a backend's name and an ending follow. */
const maxBytes = 200;

/**
 * Returns a distinct, valid file name for each id, for example of a test or operand. The names differ even on
 * a file system that ignores case.
 */
export function fileNames(ids: readonly string[]): string[] {
  const taken = new Set<string>();
  // macOS takes both normal forms of Unicode as one name.
  const key = (name: string): string => name.normalize("NFC").toLowerCase();
  return ids.map((id) => {
    const plain = fileName(id);
    let name = plain;
    for (let n = 2; taken.has(key(name)); n++) name = `${plain}~${n}`;
    taken.add(key(name));
    return name;
  });
}

/**
 * Devices of Windows, whatever ending follows: learn.microsoft.com, "Naming Files, Paths, and Namespaces".
 */
const device = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(?=\.|$)/i;

/**
 * Returns an id as a file name that is valid on Windows. Invalid characters become "_", and a name longer
 * than 200 bytes of UTF-8 is cut to 200.
 */
function fileName(id: string): string {
  const safe = id.replaceAll(/[/\\<>:"|?*\p{Cc}\p{Cs}]/gu, "_").replace(device, "_$&");
  const bytes = new TextEncoder().encode(safe);
  return bytes.length <= maxBytes
    ? safe
    : new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/\ufffd+$/, "");
}
