import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
/** The built program: the checkout's, or the one that a test installed from its package. */
export const builtAl = process.env.AL_TEST_PROGRAM ?? join(root, "dist/src/cli/al.js");

/** For the environment of a process that does not inherit the tests': compiled once, loaded by every start. */
export const compileCache = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

/** Where runs of own users keep compiled code is a folder of all tests: a home of its own costs a run one second of CPU. */
function shareCompiledCode(home: string): void {
  const { NODE_COMPILE_CACHE: shared } = process.env;
  const folder = join(home, "cache");
  if (shared === undefined || existsSync(folder)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  symlinkSync(shared, join(folder, "node"));
}

/** A project of its own with an AL_HOME of its own, in a temporary folder. */
export interface TestProject {
  readonly dir: string;
  readonly home: string;
  remove(): Promise<void>;
}

/** Copies a project (`examples/hello`, relative to the checkout) to a temporary folder. */
export async function copyProject(project: string): Promise<TestProject> {
  const folder = await mkdtemp(join(tmpdir(), "al-test-"));
  const dir = join(folder, "project");
  await cp(resolve(root, project), dir, {
    recursive: true,
    filter: (source) => !source.endsWith("/.al"),
  });
  await hurryScripts(dir);
  return {
    dir,
    home: join(folder, "home"),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** An example's scripted model pauses for its readers. */
async function hurryScripts(dir: string): Promise<void> {
  const scripts = (await readdir(dir)).filter((name) => name.endsWith(".script.toml"));
  for (const path of scripts.map((name) => join(dir, name))) {
    const text = await readFile(path, "utf8");
    await writeFile(
      path,
      text.replace(/(delayMs = \d+)0\b/g, "$1").replaceAll("sleep 3", "sleep 1"),
    );
  }
}

export interface Finished {
  /** 128 and the signal's number when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the built program to its end. */
export async function runAl(
  project: TestProject,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const child = spawnAl(project, args, env);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  return { code: await exitOf(child), stdout: stdout(), stderr: stderr() };
}

export interface SchedulerOptions {
  /** More arguments of `al start`. */
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** False starts without the dashboard. */
  readonly webUi?: boolean;
  /** False leaves the port to the project's config; without it any free one is taken. */
  readonly anyPort?: boolean;
}

/** Environment of a scheduler whose clock is so many ms ahead. */
export function clockAhead(ms: number): NodeJS.ProcessEnv {
  return {
    NODE_OPTIONS: `--import=${join(root, "test/helpers/shift-clock.mjs")}`,
    AL_TEST_CLOCK_SHIFT_MS: String(ms),
  };
}

/** The same: its next full minute begins some seconds after its start. */
export function nearFullMinute(seconds = 4): NodeJS.ProcessEnv {
  return clockAhead(Math.max(0, 60_000 - (Date.now() % 60_000) - seconds * 1000));
}

/** A live scheduler: the built program, started as a user starts it. */
export interface TestScheduler {
  readonly project: TestProject;
  readonly pid: number;
  /** `http://localhost:<port>` without a slash at the end; an empty string when no port is open. */
  readonly url: string;
  readonly dashboardUrl: string;
  readonly apiKey: string;
  /** All that it wrote so far, both streams. */
  readonly output: () => string;
  /** Resolves when the output matches; rejects after `ms`, or when the scheduler ends first. */
  readonly waitForOutput: (pattern: RegExp, ms?: number) => Promise<RegExpMatchArray>;
  /** A request with the API key. */
  readonly api: (path: string, init?: RequestInit) => Promise<Response>;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly exited: Promise<number>;
  /** Asks it to stop; the exit code. */
  readonly stop: () => Promise<number>;
  /** kill -9 */
  readonly kill: () => Promise<void>;
}

/** For a start that hangs: that of a thousand agents on a busy machine is no such. */
const startPatienceMs = 90_000;

/** Starts `al start` on the project and waits until it says that it runs. The caller stops it. */
export async function startTestScheduler(
  project: TestProject,
  options: SchedulerOptions = {},
): Promise<TestScheduler> {
  const webUi = options.webUi === false ? [] : ["--web-ui"];
  const port = options.anyPort === false ? [] : ["--port", "0"];
  const args = ["start", ...webUi, ...port, ...(options.args ?? [])];
  const child = spawnAl(project, args, options.env ?? {});
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const output = () => `${stdout()}${stderr()}`;
  const exited = exitOf(child);
  const waitForOutput = waiter(child, output);
  const [, keyPath = ""] = await waitForOutput(/^API key: +(\S+)$/m, startPatienceMs);
  const dashboardUrl = /^Dashboard: +(\S+)$/m.exec(output())?.[1] ?? "";
  const gatewayUrl = /^Gateway: +(\S+)$/m.exec(output())?.[1];
  const url = gatewayUrl ?? dashboardUrl.replace(/\/dashboard$/, "");
  const apiKey = (await readFile(keyPath, "utf8")).trim();
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return {
    project,
    pid: child.pid ?? 0,
    url,
    dashboardUrl,
    apiKey,
    output,
    waitForOutput,
    exited,
    api: (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${apiKey}`);
      return fetch(`${url}${path}`, { ...init, headers });
    },
    signal: (signal) => {
      child.kill(signal);
    },
    stop: () => end("SIGTERM"),
    kill: async () => {
      await end("SIGKILL");
    },
  };
}

/** Starts a command of the built program. */
export function spawnAl(
  project: TestProject,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
) {
  shareCompiledCode(project.home);
  // A scheduler that is killed leaves the folder of its socket, which goes with the project.
  const temporary = join(project.home, "tmp");
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  return spawn(process.execPath, [builtAl, ...args, "--project", project.dir], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", AL_HOME: project.home, TMPDIR: temporary, ...env },
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => (text += chunk));
  return () => text;
}

/** The exit code of a process; 128 and the signal's number when a signal ended it. */
export function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? (signal === "SIGKILL" ? 137 : 143)));
  });
}

function waiter(child: ChildProcess, output: () => string): TestScheduler["waitForOutput"] {
  return (pattern, ms = 60_000) =>
    new Promise((resolve, reject) => {
      const giveUp = (why: string) => {
        settle();
        reject(new Error(`${why} before ${String(pattern)}; it wrote:\n${output()}`));
      };
      const look = () => {
        const match = pattern.exec(output());
        if (match === null) return;
        settle();
        resolve(match);
      };
      const ended = () => (look(), giveUp("the scheduler ended"));
      const late = () => giveUp(`${ms} ms went by`);
      const deadline = AbortSignal.timeout(ms);
      deadline.addEventListener("abort", late);
      const settle = () => {
        deadline.removeEventListener("abort", late);
        child.stdout?.off("data", look);
        child.stderr?.off("data", look);
        child.off("close", ended);
      };
      child.stdout?.on("data", look);
      child.stderr?.on("data", look);
      child.once("close", ended);
      look();
    });
}
