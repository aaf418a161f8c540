import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { ownersFile } from "./temp-dir.ts";

/** Things of the machine that tests make, by what they are. */
export interface Traces {
  readonly processes: readonly string[];
  readonly files: readonly string[];
  readonly mounts: readonly string[];
  readonly networks: readonly string[];
  readonly users: readonly string[];
}

/** Those of a test run, whose temporary folder is `folder`, and all networks of the machine. */
export function tracesOf(folder: string): Traces {
  const run = process.env.AL_TEST_RUN ?? "";
  const lines = (path: string) => readFileSync(path, "utf8").split("\n");
  return {
    processes: namesIn("/proc").filter((name) => /^\d+$/.test(name) && belongs(name, folder)),
    // A worker, which has the others, ends after this.
    files: namesIn(folder).filter((name) => !name.startsWith("worker-")),
    mounts: lines("/proc/mounts").filter((line) => line.includes(folder)),
    networks: namesIn("/run/netns"),
    users: lines("/etc/passwd").filter((line) => line.startsWith(`al-test-${run}-`)),
  };
}

/** A line for each thing that is there after the tests, and was not before them; `folder` is the test run's. */
export function leftBehind(folder: string, before: Traces, after: Traces): readonly string[] {
  const details: Partial<Record<keyof Traces, (name: string) => string>> = {
    processes: commandOf,
    files: (name) => contentsOf(join(folder, name)),
  };
  return (Object.keys(after) as (keyof Traces)[]).flatMap((kind) =>
    after[kind]
      .filter((name) => !before[kind].includes(name))
      .map((name) => `${kind}: ${name} ${details[kind]?.(name) ?? ""}`.trim()),
  );
}

/** The test runner's own processes have the folder in their environment too. */
function belongs(pid: string, folder: string): boolean {
  const command = commandOf(pid);
  if (Number(pid) === process.pid || command.includes("vitest")) return false;
  const environment = read(`/proc/${pid}/environ`).split("\0");
  return (
    environment.includes(`TMPDIR=${folder}`) ||
    `${command} ${linked(`/proc/${pid}/cwd`)}`.includes(folder)
  );
}

function commandOf(pid: string): string {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").slice(0, 200);
}

/** What is in a folder, and the test that made it. */
function contentsOf(folder: string): string {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return "";
  const owners = read(join(folder, "..", ownersFile)).split("\n");
  const owner = owners.find((line) => line.startsWith(basename(folder))) ?? "";
  return `${readdirSync(folder, { recursive: true }).slice(0, 5).join(", ")} ${owner}`;
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Empty for a process that is gone, or of another user. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function linked(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
