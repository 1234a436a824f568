/** The program for use elsewhere: a command line, a program of one's own, a case file, text. */
import {
  defined,
  attributesOf,
  categoryOf,
  commonName,
  CompileError,
  dialectOf,
  elementCount,
  entryOf,
  error,
  findOp,
  givenEntries,
  formatEntry,
  inputsOf,
  keyOf,
  scheduleEntries,
  type AttrValue,
  type OpDef,
  type SourceFunc,
} from "../../../ir/index.js";
import { dashed } from "../../../src/cli/flag-values.js";
import { tryCompile } from "../../../src/api/compile.js";
import { tensorJson } from "../../../src/formats/tensor-json.js";
import type { TensorValue } from "../../../src/formats/tensor.js";
import { inputsFor } from "./inputs.js";
import type { CopyForm, WithInputs } from "./messages.js";
import { funcOf } from "./program.js";
import { typeText } from "./show.js";

/** Elements of a tensor that a case file states one by one. */
const mostStated = 4096;

/**
 * Returns the program as text for use outside the page, in format `form`. Throws a CompileError (TC702) if
 * format `cli` or `case` is requested for a function that does not call a framework's operator.
 */
export function copyAs({ inputs, seed, ...asked }: WithInputs, form: CopyForm): string {
  const func = funcOf(asked);
  switch (form) {
    case "tir":
      return asked.text;
    case "library":
      return libraryCode(asked.text, func.name);
    case "cli": {
      const source = operatorOf(func, form);
      return commandLine(source.func, source.def);
    }
    case "case": {
      const source = operatorOf(func, form);
      return caseFile(source.func, source.def, inputs, seed);
    }
  }
}

/**
 * Returns the function `func`, which must call a framework's operator, and the definition of the operator.
 * Throws a CompileError (TC702) for another function or an unknown operator. `form` is the requested copy
 * format, for the message.
 */
function operatorOf(func: ReturnType<typeof funcOf>, form: CopyForm): { func: SourceFunc; def: OpDef } {
  const def = func.level === "source" ? findOp(func.op) : undefined;
  if (func.level === "source" && def !== undefined) return { func, def };
  const what = form === "cli" ? "a command line of flags" : "a case";
  throw new CompileError([
    error("TC702", `@${func.name} is at the ${func.level} level; ${what} describes an operator`, {
      hint: "copy it as .tir",
    }),
  ]);
}

/** Attributes by key, `oob` apart. */
const attributes = (func: SourceFunc, def: OpDef): (readonly [key: string, value: AttrValue])[] =>
  [...attributesOf(def)].flatMap(([key, { name }]) => {
    const value = func.attrs[name];
    return value === undefined ? [] : [[key, value] as const];
  });

/**
 * Returns the `tilec explain` command line for an operator call, with flags for the operand types,
 * attributes, target and schedule.
 */
function commandLine(func: SourceFunc, def: OpDef): string {
  const flags: readonly (readonly [string, AttrValue | undefined])[] = [
    ["op", def.name],
    ...inputsOf(func).map((input) => [keyOf(input), typeText(input.type)] as const),
    ...attributes(func, def).map(([key, value]) => [dashed(key), value] as const),
    ["oob", func.attrs["oob"]],
    ["target", func.target],
    ...Object.values(scheduleEntries).map(({ key, flag }) => {
      const value = func.schedule[key];
      return [flag, value === undefined ? undefined : formatEntry(value)] as const;
    }),
  ];
  const given = flags.flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag} ${quoted(String(value))}`],
  );
  return `npx tilec explain ${given.join(" ")}`;
}

/** Brackets and the like mean something to a shell. */
const quoted = (value: string): string => (/^[\w.,=-]+$/.test(value) ? value : `'${value}'`);

const libraryCode = (
  text: string,
  name: string,
): string => `import { compile, explain, parseModule } from "tilec";

const text = ${JSON.stringify(text)};
const program = parseModule(text, "program.tir").module.funcs.find((func) => func.name === ${JSON.stringify(name)});
console.log(explain(program).rules);
console.log(compile(program).text("tile"));
`;

/**
 * Returns a conformance test case of an operator as JSON text. The test case lists the input elements if the
 * program compiles and no input has more than 4,096 elements; else inputs are generated from the seed. For a
 * refused program, the test case expects the error category.
 */
function caseFile(func: SourceFunc, def: OpDef, given: WithInputs["inputs"], seed: number): string {
  const compiled = tryCompile(func);
  const hosts = compiled.ok && isSmall(func) ? inputsFor(compiled.kernel, given, seed) : {};
  const tensors = inputsOf(func).map((operand) => {
    const { type } = operand;
    const key = keyOf(operand);
    const host = entryOf(hosts, key);
    const { dtype, shape } = type;
    const value: TensorValue | undefined =
      host === undefined
        ? undefined
        : {
            type,
            bytes: host.bytes,
            ...(host.strings === undefined ? {} : { strings: entryOf(given, key)?.strings ?? [] }),
          };
    return [
      key,
      value === undefined ? { dtype, shape, fill: fillOf(key, func, seed) } : tensorJson(value, "values"),
    ] as const;
  });
  const { oob } = func.attrs;
  const refusals = compiled.ok ? [] : compiled.diagnostics.filter(({ severity }) => severity === "error");
  const [refused] = refusals;
  const json = {
    id: `playground/${func.name}`,
    op: commonName(def),
    dialect: dialectOf(def),
    attributes: Object.fromEntries(attributes(func, def)),
    ...Object.fromEntries(tensors),
    ...defined({ oob, target: func.target }),
    ...givenEntries(func.schedule),
    expect: refused === undefined ? "ok" : { error: categoryOf(refused.code) },
  };
  return `${JSON.stringify([json], undefined, 1)}\n`;
}

const isSmall = (func: SourceFunc): boolean =>
  inputsOf(func).every(({ type }) => elementCount(type.shape) <= mostStated);

/**
 * Numbers that a case makes itself: those of the indices below the least extent, which is in range along
 * every dim.
 */
function fillOf(key: string, func: SourceFunc, seed: number): { seed: number; min: number; max: number } {
  const [data] = inputsOf(func);
  const least = Math.min(...(data?.type.shape ?? [1]));
  return key === "indices" ? { seed, min: 0, max: Math.max(1, least) } : { seed, min: 0, max: 100 };
}
