/** Arguments of a wrong kind, at the functions that programs call: each is refused with a code, or taken; none is a TypeError. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as backends from "../../backends/index.js";
import * as ir from "../../ir/index.js";
import { CompileError, RunError, formatText, parseSchedule } from "../../ir/index.js";
import * as passes from "../../passes/index.js";
import { PassError, checkPassNames } from "../../passes/index.js";
import { packageFile } from "../../src/device/package-files.js";
import { emitPto } from "../../backends/pto/index.js";
import * as sim from "../../backends/sim/index.js";
import { createRunner, emitWgsl } from "../../backends/webgpu/index.js";
import * as library from "../../src/index.js";
import * as formats from "../../src/formats/index.js";
import * as onnx from "../../src/formats/onnx/index.js";
import * as testing from "../../src/testing/index.js";
import * as report from "../../src/report/index.js";
import * as tuning from "../../src/tune/index.js";

const values = [undefined, null, 3, "text", {}, [], true, 5n, () => undefined, NaN];

/** Every function of an entry point, those of its namespaces too, but for the constructors of errors. */
function functionsOf(exports: object, prefix = ""): [string, (...args: unknown[]) => unknown][] {
  return Object.entries(exports).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === "function")
      return value.prototype instanceof Error
        ? []
        : [[prefix + name, value as (...args: unknown[]) => unknown]];
    return typeof value === "object" &&
      value !== null &&
      Object.prototype.toString.call(value) === "[object Module]"
      ? functionsOf(value, `${name}.`)
      : [];
  });
}

/** What a call comes to: a code, or that it is taken. Any other error is thrown. */
async function outcome(call: () => unknown): Promise<string> {
  try {
    await call();
    return "taken";
  } catch (thrown) {
    if (thrown instanceof CompileError || thrown instanceof RunError || thrown instanceof PassError)
      return thrown.diagnostics[0]?.code ?? "";
    throw thrown;
  }
}

const docs = readdirSync(packageFile("docs"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md"))
  .map((file) => readFileSync(packageFile(`docs/${file}`), "utf8"))
  .join("\n");

/** The functions of an entry point that a page imports: of the building blocks of tilec, those that programs are shown to call. */
function documented(door: string, exports: object): [string, (...args: unknown[]) => unknown][] {
  const imports = docs.matchAll(/import \{([^}]*)\} from "([^"]*)"/g);
  const names = new Set(
    [...imports].flatMap(([, list = "", from]) => (from === door ? (list.match(/\w+/g) ?? []) : [])),
  );
  return functionsOf(exports).filter(([name]) => names.has(name));
}

const { renderDiagnostic: _, ...ofLibrary } = library;
const { simulate, simulateLong, simulateBytes, watOf, wasmMoves, countedReport } = sim;
const called = [
  ...functionsOf(ofLibrary),
  ...functionsOf({
    formatText,
    parseSchedule,
    checkPassNames,
    emitPto,
    emitWgsl,
    createRunner,
  }),
  ...functionsOf({ simulate, simulateLong, simulateBytes, watOf, wasmMoves, countedReport }),
  ...[formats, onnx, report, testing, tuning].flatMap((door) => functionsOf(door)),
  ...documented("tilec/ir", ir),
  ...documented("tilec/passes", passes),
  ...documented("tilec/backends", backends),
];

describe("an argument of a wrong kind", () => {
  it("is looked for at every function of the main entry point", () => {
    const names = called.map(([name]) => name);
    expect(names).toEqual(
      expect.arrayContaining(["parseModule", "compile", "run", "torch.embedding", "directml.gather"]),
    );
    // Those of the building blocks that the pages show.
    expect(names).toEqual(
      expect.arrayContaining(["operatorsWith", "add", "outputOf", "editPipeline", "inputTensor"]),
    );
  });

  it.each(called)("of %s is refused with a code, or taken", async (name, call) => {
    for (const value of values) {
      // The others of its arguments are none, or of the same kind.
      for (const args of [[value], [value, value], ["text", value]]) {
        const found = await outcome(() => call(...args)).catch((thrown: unknown) => thrown);
        expect(typeof found, `${name} of ${typeof value}: ${String(found)}`).toBe("string");
      }
    }
  });

  it("is named with what is taken", () => {
    expect(() => library.parseModule(undefined as never, "a")).toThrow(
      "TC702]: parseModule takes a string, not undefined",
    );
    expect(() => library.printModule(3 as never)).toThrow(
      "printModule takes a module, such as { funcs: [program] }, not 3",
    );
    expect(() => testing.caseTests("cases", { backend: ["webgpu"] } as never)).toThrow(
      "TC702]: caseTests has no backend; it has backends, ",
    );
    expect(() => tuning.bestOf([{}] as never)).toThrow(
      "TC702]: bestOf takes a list of records, such as those of parseRecords, not a value of type object",
    );
    expect(() => watOf({} as never)).toThrow("watOf takes a tile program, such as compile(program).tile");
    expect(() => {
      testing.assertThat(null as never).toBeLegal();
    }).toThrow("TC702");
  });
});
