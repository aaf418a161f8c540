import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/helpers/build.ts"],
    // What tests start again and again is compiled once.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/tests") },
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // A busy machine is late, not wrong: in CI, what failed once is tried once more.
    retry: process.env.CI ? 1 : 0,
    expect: { poll: { timeout: 10_000 } },
    // Real servers, browsers and agents run in the tests: more workers than cores only makes them late.
    maxWorkers: 2,
    reporters: [
      "default",
      ...(process.env.AL_TEST_JSON
        ? [["json", { outputFile: process.env.AL_TEST_JSON }] as const]
        : []),
    ],
  },
});
