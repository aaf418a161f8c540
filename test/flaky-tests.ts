import type { Reporter, TestModule } from "vitest/node";

/** Names the tests that passed only at their second try, at the end, so that a retry hides no flaky test. */
export class FlakyTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const { relativeModuleId, children } of modules) {
      for (const test of children.allTests("passed")) {
        if (test.diagnostic()?.flaky !== true) continue;
        process.stdout.write(`flaky: ${relativeModuleId}: ${test.fullName}\n`);
      }
    }
  }
}
