import type { Reporter, TestModule } from "vitest/node";

/** Names the tests that passed only at their second try, at the end, with their first error: a retry hides no flaky test. */
export class FlakyTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const { relativeModuleId, children } of modules) {
      for (const test of children.allTests("passed")) {
        if (test.diagnostic()?.flaky !== true) continue;
        const [why] = test.result().errors ?? [];
        process.stdout.write(
          `flaky: ${relativeModuleId}: ${test.fullName}: ${why?.message ?? ""}\n`,
        );
      }
    }
  }
}
