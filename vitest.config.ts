import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { FlakyTests } from "./test/flaky-tests.ts";
import { LongestFirst, TimingsWriter } from "./test/timings.ts";

/** They count what other tests would disturb, so they run when nothing else does. */
const alone = [
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

/** They need a browser, an engine, other OS users, real command lines, kills, or tens of seconds. */
const system = ["test/**/*.system.test.ts", "test/{e2e,faults}/**/*.test.ts"];

/** They need a real cluster: `npm run test:kubernetes`. */
const kubernetes = process.env.AL_TEST_KUBERNETES === "1" ? [] : ["test/kubernetes/**"];

/** Files without a short form: `npm run test:long`. They pack and install the program when they are loaded. */
const long = process.env.AL_TEST_LONG === "1" ? [] : ["test/**/*.long.test.ts"];

/** The seed of a round of `npm run test:shake`, whose files come in random order, and so do the tests of the rooms. */
const seed = process.env.AL_TEST_SEED;

/** Tests of a whole program may be steps that share a scheduler: they keep their order. */
function order(tests: boolean) {
  return seed === undefined
    ? { sequencer: LongestFirst }
    : { shuffle: { files: true, tests }, seed: Number(seed) };
}

/** What a test of a whole program may take. A look at a scheduler takes 6 ms of CPU, and what it waits for a second. */
const ofPrograms = { testTimeout: 180_000, expect: { poll: { timeout: 60_000, interval: 150 } } };

/** Once more for what failed: a busy machine is late. `test/flaky.json` lists what may need it no second time. */
const ofSystem = { ...ofPrograms, retry: seed === undefined ? 1 : 0 };

/** Programs, servers and browsers mostly wait: more workers than cores. With many more, some would be late. */
const workers = 4;

interface Part {
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  /** Parts of one group run side by side. */
  readonly group?: number;
  readonly maxWorkers?: number;
  readonly isolate?: boolean;
  readonly testTimeout?: number;
  readonly retry?: number;
  readonly expect?: { readonly poll: { readonly timeout: number; readonly interval: number } };
}

function part(name: string, { include, exclude = [], group = 0, ...settings }: Part) {
  return {
    extends: true as const,
    test: {
      name,
      maxWorkers: workers,
      ...settings,
      include: [...include],
      exclude: [...exclude, ...kubernetes, ...long],
      sequence: { groupOrder: group, ...order(name.endsWith("rooms")) },
    },
  };
}

export default defineConfig({
  test: {
    // `test`, `expect` and the hooks need no import.
    globals: true,
    globalSetup: ["test/helpers/global-setup.ts"],
    // What tests start again and again is compiled once.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/tests") },
    sequence: order(true),
    // Limits are deadlines for what hangs, not expectations of speed.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // `npm test` runs the first two, `npm run test:system` the others.
    projects: [
      part("rooms", { include: rooms, exclude: [...system, ...alone], isolate: false }),
      part("programs", {
        include: ["test/**/*.test.ts"],
        exclude: [...rooms, ...system, ...alone],
        ...ofPrograms,
      }),
      part("system-rooms", {
        include: rooms.map((glob) => glob.replace(".test.ts", ".system.test.ts")),
        isolate: false,
        ...ofSystem,
      }),
      part("system-programs", {
        include: system,
        exclude: rooms,
        group: 1,
        ...ofSystem,
      }),
      part("system-alone", { include: alone, group: 2, maxWorkers: 1, ...ofSystem }),
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
