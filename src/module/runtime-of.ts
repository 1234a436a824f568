/** What modules run on, from the package's build. */
import { packageFile } from "../device/package-files.js";
import { readText } from "../formats/files.js";
import type { RuntimeOf } from "./emit-module.js";

export const runtimeOf: RuntimeOf = (name) => readText(packageFile(`dist/module/${name}.js`));
