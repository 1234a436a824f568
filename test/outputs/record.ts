/** What a build makes of cases: verdicts, schedules, cycles, texts of the backends, bits and messages. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { emitFor, encodeModule } from "../../backends/wasm/index.js";
import {
  CompileError,
  defaultTarget,
  elementCount,
  InternalError,
  renderDiagnostics,
  RunError,
  targets,
} from "../../ir/index.js";
import { simulateBytes } from "../../backends/sim/index.js";
import { explain, tryCompile, type Kernel } from "../../src/index.js";
import { renderExplanation } from "../../src/report/index.js";
import { caseProgram } from "../../src/formats/case-program.js";
import { readCases, type Case } from "../../src/formats/cases.js";
import { fits, hostInputsOf } from "../support/case-kernel.js";

/** Texts by part: of one case, or of many with the case's file and id in front. */
export type Outputs = Readonly<Record<string, string>>;

/** Larger inputs are compiled and not run. */
const maxElements = 60_000;
/** Letters of a line that differs, from shortly before the first that does. */
const maxShown = 160;

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const asJson = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === "bigint" ? String(one) : ArrayBuffer.isView(one) ? bytesOf(one) : one,
  );
const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
  sha256(new Uint8Array(buffer, byteOffset, byteLength));

/** Returns the text that an action gives, or the diagnostics that refuse it. */
function textOf(action: () => string): string {
  try {
    return action();
  } catch (thrown) {
    if (thrown instanceof CompileError || thrown instanceof RunError)
      return renderDiagnostics(thrown.diagnostics);
    if (thrown instanceof InternalError) return `internal error: ${thrown.message}`;
    throw thrown;
  }
}

/** Returns what this build makes of a case, by part. */
export function recordCase(test: Case): Outputs {
  const outputs: Record<string, string> = {};
  const put = (part: string, text: () => string): void => {
    outputs[part] = textOf(text);
  };
  const found = caseProgram(test);
  if (!found.ok) {
    put("messages", () => renderDiagnostics(found.diagnostics));
    return outputs;
  }
  const { func } = found;
  for (const target of [undefined, targets.webgpu, targets.ascendA2]) {
    const name = target?.name ?? "own";
    const options = target === undefined ? {} : { target };
    if (target !== undefined && target.name === (func.target ?? defaultTarget.name)) continue;
    const result = tryCompile(func, options);
    put(`${name}/messages`, () =>
      renderDiagnostics(result.ok ? result.kernel.diagnostics : result.diagnostics),
    );
    if (func.level !== "tile") {
      put(`${name}/explanation`, () => asJson(explain(func, options)));
      put(`${name}/verdict`, () => renderExplanation(explain(func, options)));
    }
    if (!result.ok) continue;
    recordKernel(result.kernel, (part, text) => {
      put(`${name}/${part}`, text);
    });
    if (target === undefined) recordRuns(test, result.kernel, put);
  }
  return outputs;
}

function recordKernel(kernel: Kernel, put: (part: string, text: () => string) => void): void {
  for (const level of ["source", "access", "tile"] as const) put(level, () => kernel.text(level));
  put("footprint", () => asJson(kernel.footprint ?? null));
  put("wgsl", () => asJson(kernel.wgsl()));
  put("pto", () => asJson(kernel.pto()));
  put("pypto", () => kernel.pypto());
  put("wasm", () => sha256(encodeModule(emitFor(kernel.tile).kernel.module)));
}

/** Records bits and reports of both executors. */
function recordRuns(test: Case, kernel: Kernel, put: (part: string, text: () => string) => void): void {
  const elements = Object.values(test.inputs).reduce((sum, { type }) => sum + elementCount(type.shape), 0);
  if (elements > maxElements || !fits(test, kernel.tile)) return;
  for (const executor of ["checked", "fast"] as const)
    put(`run/${executor}`, () => {
      const { output, report } = simulateBytes(kernel, hostInputsOf(test, kernel.tile), { executor });
      return asJson({ output, report });
    });
}

/** Returns the outputs of this build for the case files of a folder. */
export function recordFolder(folder: string): Outputs {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const cases = files
    .sort()
    .flatMap((file) =>
      readCases(readFileSync(join(folder, file), "utf8"), file).map((test) => [file, test] as const),
    );
  return Object.fromEntries(
    cases.flatMap(([file, test]) =>
      Object.entries(recordCase(test)).map(([part, text]) => [`${file} ${test.id} ${part}`, text] as const),
    ),
  );
}

/** Returns a line for each part that differs between two recordings, and its first line that does. */
export function differences(before: Outputs, after: Outputs): readonly string[] {
  const parts = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return parts.flatMap((part) => {
    const { [part]: old } = before;
    const { [part]: now } = after;
    if (old === now) return [];
    if (old === undefined || now === undefined) return [`${part}: ${old === undefined ? "new" : "gone"}`];
    const [oldLines, newLines] = [old.split("\n"), now.split("\n")];
    const line = oldLines.findIndex((text, k) => text !== newLines[k]);
    const at = line === -1 ? oldLines.length : line;
    const [was, is] = [oldLines[at] ?? "", newLines[at] ?? ""];
    let same = 0;
    while (same < was.length && was[same] === is[same]) same++;
    const from = Math.max(0, same - 40);
    const shown = (text: string): string => text.slice(from, from + maxShown);
    return [`${part}, line ${at + 1}:\n  - ${shown(was)}\n  + ${shown(is)}`];
  });
}
