/** Names the tests that a process took along when it ended: vitest says that one did, and not in which file. */
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
