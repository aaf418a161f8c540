import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** Tests that once passed only at their second try, and whose cause is not found yet, as `file: name`. */
const listed = new Set(
  JSON.parse(readFileSync(join(import.meta.dirname, "flaky.json"), "utf8")) as readonly string[],
);

/**
 * Names the tests that passed only at their second try, at the end, with their first error. A test that needs it for the
 * first time gets a line in `test/flaky.json`; with that line, it fails the run.
 */
export class FlakyTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const { relativeModuleId, children } of modules) {
      for (const test of children.allTests("passed")) {
        if (test.diagnostic()?.flaky !== true) continue;
        const name = `${relativeModuleId}: ${test.fullName}`;
        const [why] = test.result().errors ?? [];
        process.stdout.write(`flaky: ${name}: ${why?.message ?? ""}\n`);
        if (listed.has(name)) {
          process.stdout.write("failed: the test was flaky before, as test/flaky.json says\n");
          process.exitCode = 1;
        } else {
          process.stdout.write(`add to test/flaky.json: ${JSON.stringify(name)}\n`);
        }
      }
    }
  }
}
