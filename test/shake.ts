import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/**
 * npm run test:shake [files] [-- --rounds N] [--seed N] [--load] [--system]
 * Runs the tests of these files (all of `npm test`, or of `npm run test:system`) in random order with random seeds, with
 * `--load` beside two busy processes a core. Prints each test that failed with its rate, its seeds and its first error.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "10" },
    seed: { type: "string" },
    load: { type: "boolean", default: false },
    system: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const firstSeed = Number(values.seed ?? Math.trunc(Math.random() * 1_000_000));
const projects = values.system ? ["system-*"] : ["rooms", "programs"];
/** Variables that repeat the choices of a test with random inputs. */
const seeded = "CLUSTER CRASH FUZZ KILL RACE REMOTE SWARM".split(" ");

interface Failure {
  readonly seeds: number[];
  readonly error: string;
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

const failures = new Map<string, Failure>();
const folder = mkdtempSync(join(tmpdir(), "al-shake-"));
const busy = values.load ? startLoad() : [];
let failedRounds = 0;
try {
  for (let round = 0; round < rounds; round += 1) await shake(firstSeed + round);
} finally {
  for (const child of busy) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, { seeds, error }] of failures) {
  say(`\n${seeds.length} of ${rounds} rounds: ${name}\n  --seed ${seeds.join(", ")}\n  ${error}`);
}
say(`\n${rounds - failedRounds} of ${rounds} rounds passed`);
process.exitCode = failedRounds === 0 ? 0 : 1;

async function shake(seed: number): Promise<void> {
  const began = performance.now();
  const file = join(folder, `${seed}.json`);
  const vitest = spawn("vitest", argumentsOf(file), {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      ...Object.fromEntries(seeded.map((name) => [`AL_${name}_SEED`, String(seed)])),
      AL_TEST_SEED: String(seed),
    },
  });
  const [code] = (await once(vitest, "close")) as [number | null];
  const passed = existsSync(file) ? collect(seed, file) : 0;
  if (code !== 0) failedRounds += 1;
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  say(`seed ${seed}: ${passed} passed, exit code ${code ?? "none"}, ${seconds} s`);
}

function argumentsOf(file: string): readonly string[] {
  return [
    "run",
    ...positionals,
    ...(positionals.length === 0 || values.system ? projects : []).flatMap((name) => [
      "--project",
      name,
    ]),
    "--reporter=json",
    `--outputFile=${file}`,
  ];
}

/** Adds the failures of a round; returns how many tests passed. */
function collect(seed: number, file: string): number {
  const { numPassedTests, testResults } = JSON.parse(readFileSync(file, "utf8")) as Report;
  for (const { name, status, message, assertionResults } of testResults) {
    const failed = assertionResults.filter((each) => each.status === "failed");
    for (const { fullName, failureMessages = [] } of failed) {
      add(`${name}: ${fullName}`, seed, failureMessages[0] ?? "");
    }
    if (status === "failed" && failed.length === 0) add(name, seed, message);
  }
  return numPassedTests;
}

function add(name: string, seed: number, error: string): void {
  const failure = failures.get(name) ?? { seeds: [], error };
  failure.seeds.push(seed);
  failures.set(name, failure);
}

function startLoad() {
  return Array.from({ length: 2 * availableParallelism() }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
