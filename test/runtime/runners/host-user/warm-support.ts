import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { HostUserRunner } from "../../../../src/runtime/runners/host-user/host-user-runner.ts";
import type { HostUserOptions } from "../../../../src/runtime/runners/host-user/host-user-options.ts";
import { until } from "../../../foundation/contracts/runner.ts";
import { aRunner, shellProgram } from "./support.ts";

const entry = fileURLToPath(new URL("warm-entry.ts", import.meta.url));
/** This machine may be busy, in ms. */
export const patience = 20_000;

let count = 0;

/** A runner with what tells its processes from those of all others. */
export interface WarmRunner {
  readonly runner: HostUserRunner;
  /** Start times of what waits for a run now, by process id. */
  readonly waiting: () => Promise<ReadonlyMap<number, string>>;
  /** Resolves when so many wait. */
  readonly untilWaiting: (wanted: number) => Promise<void>;
  /** All that carries this runner's language, waiting or not. */
  readonly processes: () => Promise<readonly number[]>;
}

/** A runner whose runs are shell scripts, also those that are started ahead. */
export function aWarmRunner(baseDir: string, options: Partial<HostUserOptions> = {}): WarmRunner {
  return warmRunner(`x-warm-${process.pid}-${++count}`, baseDir, options);
}

/** The one whose processes have this language. */
export function warmRunner(
  language: string,
  baseDir: string,
  options: Partial<HostUserOptions> = {},
): WarmRunner {
  const runner = aRunner(baseDir, {
    env: { ...process.env, LANG: language },
    program: (request) =>
      request === null
        ? { file: process.execPath, args: ["--no-warnings", entry] }
        : shellProgram(request.agent.title, baseDir),
    ...options,
  });
  const processes = async () => [...(await withVariable(`LANG=${language}`)).keys()];
  const waiting = async () => {
    const found = await withVariable(`LANG=${language}`);
    const nodes = [...found].filter(
      ([, { environ, args }]) => environ.includes("AL_WARM=1") && args[2] === entry,
    );
    return new Map(nodes.map(([pid, { start }]) => [pid, start]));
  };
  const untilWaiting = (wanted: number) =>
    until(async () => (await waiting()).size === wanted, patience);
  return { runner, waiting, untilWaiting, processes };
}

interface Found {
  readonly environ: readonly string[];
  readonly args: readonly string[];
  readonly start: string;
}

async function withVariable(variable: string): Promise<ReadonlyMap<number, Found>> {
  const found = new Map<number, Found>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file: string) => readFile(`/proc/${name}/${file}`, "utf8").catch(() => "");
    const environ = (await read("environ")).split("\0");
    if (!environ.includes(variable)) continue;
    const stat = await read("stat");
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
    found.set(Number(name), { environ, args: (await read("cmdline")).split("\0"), start });
  }
  return found;
}
