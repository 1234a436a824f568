/** A config file from its path to the parts that it brings. Loaded where there is one. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { findNodeAtLocation, parseTree, printParseErrorCode, type ParseError } from "jsonc-parser";
import {
  defined,
  CompileError,
  operatorsWith,
  targetNames,
  type Diagnostic,
  type OpDef,
  type Span,
  type Target,
} from "../../ir/index.js";
import { problemsOf, record } from "../../backends/index.js";
import { checkPassNames, parsePipeline, type Pass } from "../../passes/index.js";
import { backendNames } from "../api/backends.js";
import { RuleError } from "../../ir/ops/op-def.js";
import { didYouMean } from "../../ir/did-you-mean.js";
import type { Config } from "../api/config.js";
import { checkPath, hintOf, reasonOf } from "../formats/file-fault.js";
import { noteUse } from "../formats/files.js";
import { lookUpTarget } from "../formats/look-up-target.js";
import { ConfigError } from "./config-error.js";
import { configFields } from "./config-fields.js";
import { importModule, NoTypeScript } from "./import-module.js";
import { projectBackend } from "./project-backend.js";
import type { Project } from "./project.js";
import { whyNotLoaded } from "./why-not-loaded.js";

/**
 * Function that makes the error for problems of a part of a config. In a JSON file, the path at the beginning
 * of a message locates its line.
 */
type Refuse = (problems: readonly Pick<Diagnostic, "message" | "hint">[]) => ConfigError;

/**
 * Loads a config file and resolves to the project. `shown`: file name for messages. Rejects with a
 * ConfigError if the config cannot be used.
 */
export async function loadProject(file: string, shown: string): Promise<Project> {
  noteUse(file, "reads");
  const { value, refuse } = file.endsWith(".json") ? readJson(file, shown) : await readModule(file, shown);
  const problems = fieldProblems(value, file);
  if (problems.length > 0) throw refuse(problems);
  const config = value as Config;
  const passes = passesOf(config, file, shown, refuse);
  const targets = targetsOf(config, file, refuse);
  const named = new Map(targets.map((target) => [target.name, target]));
  const { operators, pipeline, profile } = config;
  return {
    config: shown,
    passes,
    targets,
    ...defined({ profile }),
    backends: backendsOf(config, file, shown, refuse),
    findTarget: (name) => named.get(name) ?? lookUpTarget(name),
    ...defined({
      operators:
        operators && refusing(refuse, "", () => operatorsWith(operators.map(withOrigin(file, shown)))),
    }),
    ...(pipeline === undefined
      ? {}
      : {
          pipeline: refusing(refuse, `pipeline ${JSON.stringify(pipeline)}`, () =>
            parsePipeline(pipeline, passes),
          ),
        }),
  };
}

/** Returns the problems of the value that a config file exports; an empty list if the value is valid. */
function fieldProblems(value: unknown, file: string): readonly Pick<Diagnostic, "message" | "hint">[] {
  if (value instanceof Promise) {
    value.catch(() => undefined);
    return [{ message: "the default export is a promise", hint: "export default await …" }];
  }
  try {
    return problemsOf(record("a config", configFields, { code: "TC018" }), value, "", didYouMean);
  } catch (thrown) {
    return [{ message: whyNotLoaded(thrown, file) }];
  }
}

/**
 * Returns the result of `action`. If `action` throws a CompileError, throws instead the error that `refuse`
 * makes of the messages. `field`: name of the config field put before each message; may be empty.
 */
function refusing<T>(refuse: Refuse, field: string, action: () => T): T {
  try {
    return action();
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
    throw refuse(
      thrown.diagnostics.map(({ message, hint }) => ({
        message: field === "" ? message : `${field}: ${message}`,
        ...defined({ hint }),
      })),
    );
  }
}

interface Read {
  readonly value: unknown;
  readonly refuse: Refuse;
}

/**
 * Imports a config module and resolves to the default export. `shown`: file name for messages. Rejects with a
 * ConfigError if the file cannot be loaded or has no default export.
 */
async function readModule(file: string, shown: string): Promise<Read> {
  const refuse: Refuse = (problems) => new ConfigError(shown, problems);
  if (!/\.(?:[cm]?js|[cm]?ts)$/.test(file))
    throw refuse([{ message: "a config ends in .ts, .js, .mjs or .json" }]);
  if (!existsSync(file)) throw refuse([{ message: "the file does not exist", hint: checkPath }]);
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = await importModule(file);
  } catch (thrown) {
    throw refuse([{ message: whyNotLoaded(thrown, file), ...hintFor(thrown) }]);
  }
  if (!("default" in exports))
    throw refuse([{ message: "the file has no default export", hint: "export default { passes: [mine] }" }]);
  return { value: exports["default"], refuse };
}

/**
 * Returns a hint on how to load TypeScript or ES modules, for an error from importing a config file. The
 * result is an empty object for any other error.
 */
function hintFor(thrown: unknown): { readonly hint?: string } {
  if (thrown instanceof NoTypeScript)
    return { hint: "npm install --save-dev jiti; Node 22.18 needs no loader" };
  const message = thrown instanceof Error ? thrown.message : "";
  return /outside a module|Unexpected token 'export'/.test(message)
    ? { hint: 'put "type": "module" into package.json' }
    : {};
}

/**
 * Reads a config file in JSON and returns the value. Throws a ConfigError if the file cannot be read or is
 * not valid JSON. `shown`: file name for messages.
 */
function readJson(file: string, shown: string): Read {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (thrown) {
    throw new ConfigError(shown, [{ message: reasonOf(thrown), hint: hintOf(thrown) }]);
  }
  const spanAt = (offset: number, length: number): Span => {
    const before = text.slice(0, offset).split("\n");
    return { file: shown, line: before.length, column: (before.at(-1) ?? "").length + 1, length };
  };
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true });
  const [first] = errors;
  if (first !== undefined || root === undefined) {
    const what = first === undefined ? "nothing" : printParseErrorCode(first.error);
    const span = spanAt(first?.offset ?? 0, first?.length ?? 0);
    throw new ConfigError(shown, [{ message: `not JSON: ${what}`, span }]);
  }
  const refuse: Refuse = (problems) =>
    new ConfigError(
      shown,
      problems.map((problem) => {
        const [, field = "", index] = /^(?:a config has no )?(\w+)(?:\[(\d+)\])?/.exec(problem.message) ?? [];
        const node = findNodeAtLocation(root, index === undefined ? [field] : [field, Number(index)]) ?? root;
        return { ...problem, span: spanAt(node.offset, node.length) };
      }),
    );
  return { value: JSON.parse(text) as unknown, refuse };
}

/**
 * Returns the passes of a config file, each with its source text. Tuning records use the text to detect that
 * a pass has changed. Throws a ConfigError for invalid pass names.
 */
function passesOf({ passes = [] }: Config, file: string, shown: string, refuse: Refuse): readonly Pass[] {
  refusing(refuse, "passes", () => {
    checkPassNames(passes);
  });
  const text = readFileSync(file, "utf8");
  return passes.map((pass) => ({
    name: pass.name,
    summary: pass.summary,
    requires: pass.requires,
    ensures: pass.ensures,
    origin: { file: shown, text: `${text}\n${pass.run.toString()}` },
    run: (func, context) => pass.run(func, context),
  }));
}

/** Returns an operator that names itself, with the file and the line, where it crashes. */
const withOrigin =
  (file: string, shown: string) =>
  (def: OpDef, k: number): OpDef => ({
    ...def,
    origin: `operators[${k}] of ${shown}`,
    resolve(inputs) {
      try {
        return def.resolve(inputs);
      } catch (thrown) {
        throw thrown instanceof RuleError ? thrown : new Error(whyNotLoaded(thrown, file), { cause: thrown });
      }
    },
  });

/**
 * Returns the targets of a config file; paths of target files are relative to the config's folder. Throws a
 * ConfigError for a missing or invalid target file, for two targets with the same name, or for the name of a
 * built-in target.
 */
function targetsOf({ targets = [] }: Config, file: string, refuse: Refuse): readonly Target[] {
  const custom = targets.map((target, k) => {
    if (typeof target !== "string") return target;
    return refusing(refuse, `targets[${k}]`, () => {
      const read = lookUpTarget(resolve(dirname(file), target));
      if (read === undefined) throw refuse([{ message: `targets[${k}]: ${target} is not a target file` }]);
      return read;
    });
  });
  custom.forEach(({ name }, k) => {
    if (targetNames.includes(name))
      throw refuse([{ message: `targets[${k}] is named ${name}, the name of a built-in target` }]);
    const first = custom.findIndex((target) => target.name === name);
    if (first < k)
      throw refuse([{ message: `targets[${k}] is named ${name}, the name of targets[${first}]` }]);
  });
  return custom;
}

/**
 * Returns the backends of a config file by name. Throws a ConfigError if a name belongs to a built-in backend
 * or has characters other than letters, digits, `_` and `-`.
 */
function backendsOf(
  { backends = {} }: Config,
  file: string,
  shown: string,
  refuse: Refuse,
): ReadonlyMap<string, ReturnType<typeof projectBackend>> {
  const entries = Object.entries(backends);
  for (const [name] of entries) {
    if (backendNames.some((builtIn) => builtIn === name))
      throw refuse([{ message: `backends.${name} has the name of a built-in backend` }]);
    if (!/^[\w-]+$/.test(name))
      throw refuse([
        { message: `backends: ${JSON.stringify(name)} must be a word of letters, digits, _ and -` },
      ]);
  }
  return new Map(entries.map(([name, backend]) => [name, projectBackend(name, file, shown, backend)]));
}
