/** The folder of the repository. */
import { fileURLToPath } from "node:url";

/** The path of the repository's folder, with a slash at its end. */
export const root = fileURLToPath(new URL("../../", import.meta.url));
