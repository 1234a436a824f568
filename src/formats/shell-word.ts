/** Returns a word quoted for a POSIX shell. A word without special characters is returned unchanged. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./[\]-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
