/** Runtimes of modules, from the package's build. */
import { packageFile } from "../device/package-files.js";
import { readText } from "../formats/files.js";
import type { RuntimeOf } from "./emit-module.js";

/** Returns the JavaScript source of a runtime by name, read from `dist/module` of the tilec package. */
export const runtimeOf: RuntimeOf = (name) => readText(packageFile(`dist/module/${name}.js`));
