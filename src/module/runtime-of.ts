/** What modules run on, from the package's build. */
import { ownFile } from "../device/own-package.js";
import { readText } from "../formats/files.js";
import type { RuntimeOf } from "./emit-module.js";

export const runtimeOf: RuntimeOf = (name) => readText(ownFile(`dist/module/${name}.js`));
