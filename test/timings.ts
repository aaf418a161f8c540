import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from "vitest/node";

const root = join(import.meta.dirname, "..");
const path = join(root, "test/timings.json");

/** Seconds that each test file took when `npm run test:timings` last ran; paths are relative to the checkout. */
export const timings: Readonly<Record<string, number>> = existsSync(path)
  ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, number>)
  : {};

/** Starts the longest files first, so that no worker is left alone with one at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const secondsOf = ({ moduleId }: TestSpecification) => timings[relative(root, moduleId)] ?? 5;
    return Promise.resolve(files.toSorted((a, b) => secondsOf(b) - secondsOf(a)));
  }
}

/** Writes `test/timings.json`, for `npm run test:timings`. */
export class TimingsWriter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = modules.map((module): [string, number] => {
      const { collectDuration, duration } = module.diagnostic();
      return [relative(root, module.moduleId), Math.ceil((collectDuration + duration) / 100) / 10];
    });
    const sorted = Object.fromEntries(rows.toSorted(([a], [b]) => a.localeCompare(b)));
    writeFileSync(path, `${JSON.stringify(sorted, null, 2)}\n`);
  }
}
