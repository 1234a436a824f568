/** A reporter that names the file and the test at which a test process ended. vitest says only that one ended. */
import type { Reporter, TestCase, TestModule } from "vitest/node";

export const unended = (): Reporter => {
  const begun = new Map<TestModule, string>();
  return {
    onTestModuleStart(module) {
      begun.set(module, "before its first test");
    },
    onTestCaseReady(test: TestCase) {
      // Reports come in bulk: a test's may follow the end of its file.
      if (begun.has(test.module)) begun.set(test.module, `in or after '${test.fullName}'`);
    },
    onTestModuleEnd(module) {
      begun.delete(module);
    },
    onTestRunEnd() {
      for (const [module, where] of begun)
        process.stderr.write(`${module.relativeModuleId}: its process ended ${where}\n`);
    },
  };
};
