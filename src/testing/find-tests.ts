/**
 * The regression tests in files and folders: case files, .tir text tests, ONNX backend-test folders, models.
 */
import { defined, CompileError, error, type Diagnostic, type Operators } from "../../ir/index.js";
import { nameOf } from "../api/backends.js";
import { tryCompile } from "../api/compile.js";
import { tryProgram } from "../api/program.js";
import { withProfile } from "../api/with-profile.js";
import { readCaseList, type Case, type MalformedCase } from "../formats/cases.js";
import { isStream, readBytes, readFolder, readProgramText, readText, type Folder } from "../formats/files.js";
import { programKind } from "../formats/program-kind.js";
import { standardInput } from "../formats/standard-input.js";
import {
  findGathers,
  fixedInputs,
  isNodeTestFolder,
  dynamicInputs,
  readModel,
  readNodeTestFolder,
  type OnnxGather,
} from "../formats/onnx/index.js";
import { asHost, type TensorValue } from "../formats/tensor.js";
import { beginCase, type CheckResult } from "./check-case.js";
import { checkDrawn } from "./check-drawn.js";
import type { Test } from "./run-tests.js";
import { runTextTest } from "./text-test.js";

/**
 * Returns the tests at a path, which is a file or a folder. A file that cannot be read becomes a failing
 * test. `above` has the real paths of the parent folders, to detect cycles of symbolic links.
 */
export function testsIn(
  path: string,
  operators: Operators | undefined,
  above: readonly string[] = [],
): Test[] {
  return orMalformed(path, () => {
    const folder = path === standardInput ? undefined : readFolder(path);
    if (folder !== undefined) return testsInFolder(path, folder, operators, above);
    // Files of other kinds stand beside tests; one that is named is taken for a case file.
    const named = above.length === 0;
    return named || (/\.(?:json|onnx|tir)$/.test(path) && !isStream(path))
      ? testsInFile(path, operators)
      : [];
  });
}

/**
 * Returns the tests of all files in a folder, in the order of file names. A folder that is an ONNX backend
 * test gives the test cases of its data sets instead. `above`: real paths of the parent folders. Throws a
 * CompileError (TC010) if the folder is one of them, because of a symbolic link.
 */
function testsInFolder(
  path: string,
  { realPath, entries }: Folder,
  operators: Operators | undefined,
  above: readonly string[],
): Test[] {
  if (isNodeTestFolder(path)) return readNodeTestFolder(path).map((test) => caseTest(path, test));
  if (above.includes(realPath)) {
    throw new CompileError([
      error("TC010", `${path} leads back to ${realPath}, which it is in`, { hint: "remove the link" }),
    ]);
  }
  return entries.flatMap((entry) => testsIn(entry, operators, [...above, realPath]));
}

/**
 * Returns the tests of a file. A `.tir` file is one text test. An ONNX model has a test for each gather, and
 * a JSON file has a test for each test case.
 */
function testsInFile(path: string, operators: Operators | undefined): Test[] {
  const kind = path === standardInput ? programKind(path) : path.replace(/^.*\./, "");
  if (kind === "tir") return [textTest(path, operators)];
  if (kind === "onnx") {
    return findGathers(readModel(readBytes(path), path)).map((gather) => gatherTest(path, gather));
  }
  return readCaseList(readText(path), path, operators).map((test) =>
    "malformed" in test ? malformedTest(path, test, test.malformed) : caseTest(path, test),
  );
}

const caseTest = (file: string, test: Case): Test => ({
  id: test.id,
  file,
  line: test.line ?? 1,
  begin: (backends, context) => beginCase(test, backends, context),
});

/** Returns the test of a `.tir` file, whose comments contain RUN and CHECK lines or expected errors. */
function textTest(path: string, operators: Operators | undefined): Test {
  const source = readProgramText(path);
  return {
    id: path,
    file: path,
    line: 1,
    begin:
      (_, { findTarget, passes, profile, commandFlags }) =>
      () => {
        const failures = runTextTest(source, path, {
          ...defined({ operators, findTarget, passes, profile, commandFlags }),
        });
        const message = failures.map((failure) => `${path}:${failure.line}: ${failure.message}`).join("\n");
        const result = { id: path, backend: "text" };
        return Promise.resolve([
          failures.length === 0
            ? { ...result, status: "pass" as const }
            : { ...result, line: failures[0]?.line ?? 1, status: "fail" as const, message },
        ]);
      },
  };
}

/**
 * Returns the tests that `read` returns; a single failing test named `id` if `read` throws a CompileError.
 */
function orMalformed(id: string, read: () => Test[]): Test[] {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof CompileError) return [malformedTest(id, { id }, thrown.diagnostics)];
    throw thrown;
  }
}

const malformedTest = (
  file: string,
  { id, line = 1 }: Pick<MalformedCase, "id" | "line">,
  diagnostics: readonly Diagnostic[],
): Test => ({
  id,
  file,
  line,
  begin: (backends) => () => {
    const [first] = diagnostics;
    const why = defined({ code: first?.code, message: first?.message });
    return Promise.resolve(
      backends.map((backend) => ({ id, backend: nameOf(backend), status: "fail" as const, ...why })),
    );
  },
});

/**
 * Returns the test of one gather in an ONNX model. Inputs that the model does not fix are random. The test is
 * skipped if a shape or element type is unknown, and fails if the gather is invalid.
 */
function gatherTest(file: string, gather: OnnxGather): Test {
  const id = `${file}:${gather.name}`;
  const once = (result: Pick<CheckResult, "status" | "code" | "message">): Test => ({
    id,
    file,
    line: 1,
    begin: () => () => Promise.resolve([{ id, backend: "compile", ...result }]),
  });
  if (!gather.ok) {
    const { diagnostic, verdict } = gather;
    const { code, message } = diagnostic;
    return verdict === "refused"
      ? malformedTest(file, { id }, [diagnostic])
      : once({ status: "skip", code, message });
  }
  const described = { ...gather.program, target: "webgpu" };
  const built = tryProgram(described);
  if (!built.ok) return malformedTest(file, { id }, built.diagnostics);
  const fixed = Object.entries(fixedInputs(gather));
  if (dynamicInputs(gather).length === 0) {
    const input = (value: TensorValue) => ({ type: value.type, filled: false, read: () => value });
    const inputs = Object.fromEntries(fixed.map(([key, value]) => [key, input(value)]));
    return caseTest(file, { id, program: described, options: { target: "webgpu" }, inputs });
  }
  const given = Object.fromEntries(fixed.map(([key, value]) => [key, asHost(key, value)]));
  return {
    id,
    file,
    line: 1,
    begin(backends, context) {
      const { passes, findTarget, profile } = context;
      const compiled = tryCompile(withProfile(built.func, profile), {
        ...defined({ findTarget, passes }),
      });
      if (!compiled.ok) return malformedTest(file, { id }, compiled.diagnostics).begin(backends, context);
      return () => checkDrawn(id, compiled.kernel, given, backends, context);
    },
  };
}
