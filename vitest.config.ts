import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { FlakyTests } from "./test/flaky-tests.ts";
import { LongestFirst, TimingsWriter } from "./test/timings.ts";

/** They measure how long something takes, so they run when nothing else does. */
const timing = [
  "test/costs/**/*.test.ts",
  "test/interfaces/gateway/many-streams.test.ts",
  "test/foundation/store/history-speed.test.ts",
];

/**
 * Their files leave nothing behind in their process, so it takes file after file: a fresh one costs 0.3 s of CPU. The
 * doctor's share hooks of a module, which are registered when it is loaded.
 */
const rooms = [
  "test/{features,foundation,helpers,runtime,start,streams}/**/*.test.ts",
  "test/interfaces/!(doctor)/**/*.test.ts",
];

/** They need a real cluster: `npm run test:kubernetes`. */
const kubernetes = process.env.AL_TEST_KUBERNETES === "1" ? [] : ["test/kubernetes/**"];

/** Programs, servers and browsers mostly wait: more workers than cores. With many more, some would be late. */
const workers = 4;

export default defineConfig({
  test: {
    // `test`, `expect` and the hooks need no import.
    globals: true,
    globalSetup: ["test/helpers/build.ts"],
    // What tests start again and again is compiled once.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/tests") },
    sequence: { sequencer: LongestFirst },
    // Limits are deadlines for what hangs, not expectations of speed.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // A busy machine is late, not wrong: in CI, what failed once is tried once more, and named.
    retry: process.env.CI ? 1 : 0,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "rooms",
          include: rooms,
          exclude: timing,
          isolate: false,
          maxWorkers: workers,
          sequence: { groupOrder: 0, sequencer: LongestFirst },
        },
      },
      {
        extends: true,
        test: {
          name: "programs",
          // A test starts several programs, and each wait in it has its own limit.
          testTimeout: 180_000,
          include: ["test/**/*.test.ts"],
          exclude: [...rooms, ...timing, ...kubernetes],
          maxWorkers: workers,
          // A look at a scheduler takes 6 ms of CPU, and what it waits for takes a second.
          expect: { poll: { timeout: 60_000, interval: 150 } },
          sequence: { groupOrder: 1, sequencer: LongestFirst },
        },
      },
      {
        extends: true,
        test: {
          name: "timing",
          include: timing,
          maxWorkers: 1,
          sequence: { groupOrder: 2, sequencer: LongestFirst },
        },
      },
    ],
    reporters: [
      "default",
      new FlakyTests(),
      ...(process.env.AL_TEST_JSON
        ? [["json", { outputFile: process.env.AL_TEST_JSON }] as const]
        : []),
      ...(process.env.AL_TEST_TIMINGS === undefined ? [] : [new TimingsWriter()]),
    ],
  },
});
