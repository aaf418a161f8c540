import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runWords } from "../../../src/interfaces/cli/program.ts";
import type { AgentStatus, StatusSnapshot } from "../../../streams/status/wire.ts";
import { ensureApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { lockProject } from "../../../src/foundation/store/project-lock.ts";
import { anAgentStatus } from "../../helpers/agent-status.ts";
import { fakeSnapshot } from "../../helpers/fake-snapshot.ts";
import { builtAl, compileCache } from "../../helpers/scheduler.ts";

/** The result of an `al` process. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The words after `al`: a line, in which a word with spaces is in single quotes, or a list. */
export type Line = string | readonly string[];

export function wordsOf(line: Line): readonly string[] {
  if (typeof line !== "string") return line;
  return (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ""));
}

/** The table of a model that answers by a script. */
export const scriptedModel = '[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n';

/** An empty project, an AL_HOME for it, and the scheduler in front of them. */
export class Folders {
  #folder = "";
  #operator: FakeOperator | null = null;

  /** Makes the folders anew. */
  make(): this {
    this.#folder = mkdtempSync(join(tmpdir(), "al-cli-"));
    this.#operator = null;
    this.write("config.toml", "");
    return this;
  }

  get projectDir(): string {
    return join(this.#folder, "project");
  }

  get home(): string {
    return join(this.#folder, "home");
  }

  /** The scheduler that `serve` started. */
  get operator(): FakeOperator {
    if (this.#operator === null) throw new Error("no scheduler was started");
    return this.#operator;
  }

  /** Lets a fake scheduler run the project, until the test ends. */
  async serve(routes: Routes): Promise<FakeOperator> {
    return (this.#operator = await startFakeOperator(this, routes));
  }

  /** Runs `al` in this process, without a terminal. */
  al(line: Line, more: NodeJS.ProcessEnv = {}): Promise<Ran> {
    return runHere(this.#inProject(line), { ...this.#env(), ...more });
  }

  /** Standard output of a command that must succeed. */
  async output(line: Line, more: NodeJS.ProcessEnv = {}): Promise<string> {
    const { code, stdout, stderr } = await this.al(line, more);
    expect(code, stderr).toBe(0);
    return stdout;
  }

  /** Standard error of a command that must fail with this exit code. */
  async failure(line: Line, code = 1): Promise<string> {
    const ran = await this.al(line);
    expect(ran.code, ran.stdout).toBe(code);
    return ran.stderr;
  }

  /** Expects that a command succeeds, and prints this text on standard output, or one like it. */
  async prints(line: Line, text: string | RegExp): Promise<void> {
    const stdout = await this.output(line);
    if (typeof text === "string") expect(stdout).toBe(text);
    else expect(stdout).toMatch(text);
  }

  /** Expects that a command fails with this exit code, and this text on standard error. */
  async fails(line: Line, text: string | RegExp, code = 1): Promise<void> {
    expect(await this.failure(line, code)).toMatch(text);
  }

  /** The document that a command prints with `--json`. */
  async json(line: Line): Promise<unknown> {
    const { stdout } = await this.al([...wordsOf(line), "--json"]);
    return JSON.parse(stdout) as unknown;
  }

  /** Runs the built `al` as a process without a terminal. */
  process(line: Line): Promise<Ran> {
    return this.interrupt(line, /^\b$/);
  }

  /** Runs the built `al` until its output matches, then interrupts it. */
  interrupt(line: Line, when: Pick<RegExp, "test">): Promise<Ran> {
    const args = [process.execPath, builtAl, ...this.#inProject(line)];
    return runProcess(args, this.#env(), when);
  }

  /** Runs `al` in a line of bash, `$AL` standing for the command. */
  bash(line: string): Promise<Ran> {
    const command = `${process.execPath} ${builtAl} -p ${this.projectDir}`;
    return runProcess(["/bin/bash", "-c", line], { ...this.#env(), AL: command }, /^\b$/);
  }

  /** Writes a file of the project; its absolute path. */
  write(path: string, text: string): string {
    const file = join(this.projectDir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Writes an agent of `scriptedModel`, with these lines in its config. */
  addAgent(name: string, lines: string): void {
    this.write(`agents/${name}/SKILL.md`, "Do it.\n");
    this.write(`agents/${name}/config.toml`, `models = ["main"]\ncredentials = []\n${lines}\n`);
  }

  read(path: string): string {
    return readFileSync(join(this.projectDir, path), "utf8");
  }

  async remove(): Promise<void> {
    await this.#operator?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #env(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.#folder, AL_HOME: this.home, ...compileCache };
  }

  #inProject(line: Line): readonly string[] {
    const words = wordsOf(line);
    return words.includes("-p") ? words : [...words, "-p", this.projectDir];
  }
}

/** Folders of one test. */
export const makeFolders = (): Folders => new Folders().make();

/** Folders that are made anew for each test of a file. */
export function cliProject(): Folders {
  const folders = new Folders();
  beforeEach(() => void folders.make());
  afterEach(() => folders.remove());
  return folders;
}

/** A process runs one command, so a command leaves its listeners of signals: all but those `before` it are removed. */
function removeListeners(before: readonly (readonly unknown[])[]): void {
  for (const [at, signal] of signals.entries()) {
    const added = process.listeners(signal).filter((one) => !before[at]?.includes(one));
    for (const one of added) process.off(signal, one);
  }
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a command in this process. */
export async function runHere(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const { stdout, stderr } = process;
  // oxlint-disable-next-line typescript/unbound-method -- put back as they were
  const before = { env: process.env, out: stdout.write, err: stderr.write };
  const listeners = signals.map((signal) => process.listeners(signal));
  const ran = { stdout: "", stderr: "" };
  const catchAs = (name: "stdout" | "stderr") => (text: string | Uint8Array) => {
    ran[name] += String(text);
    return true;
  };
  process.env = env;
  process.exitCode = undefined;
  stdout.write = catchAs("stdout");
  stderr.write = catchAs("stderr");
  try {
    await runWords(args);
    return { code: (process.exitCode as number | undefined) ?? 0, ...ran };
  } finally {
    process.env = before.env;
    process.exitCode = undefined;
    removeListeners(listeners);
    stdout.write = before.out;
    stderr.write = before.err;
  }
}

function runProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  interruptAt: Pick<RegExp, "test">,
): Promise<Ran> {
  const [command = "", ...rest] = args;
  const child = spawn(command, rest, { env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  const look = () => interruptAt.test(stdout + stderr) && child.kill("SIGINT");
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => ((stdout += chunk), look()));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => ((stderr += chunk), look()));
  return new Promise((done) =>
    child.on("close", (code, signal) => {
      // A shell reports 130.
      done({ code: signal === "SIGINT" ? 130 : code, stdout, stderr });
    }),
  );
}

/** `GET /path` to its answer, or to a function that makes it; the query is part of neither. */
export type Routes = Record<string, Answer | object>;

type Answer = (request: Asked, response: ServerResponse) => unknown;

export interface Asked {
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly headers: IncomingMessage["headers"];
}

/** A scheduler as far as the command line can tell: it holds the project and answers on a Unix socket. */
async function startFakeOperator(
  { projectDir, home }: Pick<Folders, "projectDir" | "home">,
  routes: Routes,
) {
  const { key } = await ensureApiKey(home);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    void answer(request, response, { key, routes, asked });
  });
  const socketPath = join(projectDir, "s");
  await new Promise<void>((done) => server.listen(socketPath, done));
  const startedAt = new Date().toISOString();
  const info = { pid: process.pid, startedAt, socketPath, gatewayUrl: null, version: "0.1.0" };
  const lock = lockProject(projectDir, info);
  return {
    routes,
    /** `POST /control/pause` and the like, in order. */
    asked,
    close: async () => {
      if (!server.listening) return;
      lock.release();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

export type FakeOperator = Awaited<ReturnType<typeof startFakeOperator>>;

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { key, routes, asked }: { key: string; routes: Routes; asked: string[] },
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://localhost");
  const route = `${request.method ?? ""} ${url.pathname}`;
  asked.push(route);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  if (request.headers.authorization !== `Bearer ${key}`) {
    return problem(response, 401, "unauthorized", "The API key is missing or wrong.");
  }
  const handler = routes[route];
  if (handler === undefined) return problem(response, 404, "not_found", `no ${route}`);
  const body = text === "" ? null : (JSON.parse(text) as unknown);
  const asks = { query: url.searchParams, body, headers: request.headers };
  const result = typeof handler === "function" ? (handler as Answer)(asks, response) : handler;
  if (result !== undefined) response.setHeader("content-type", "application/json");
  if (result !== undefined) response.end(JSON.stringify(result));
}

/** An answer that is a problem document. */
export function refusal(status: number, error: string, detail = "no"): Answer {
  return (_asked, response) => problem(response, status, error, detail);
}

function problem(response: ServerResponse, status: number, error: string, detail: string) {
  response.writeHead(status, { "content-type": "application/problem+json" });
  response.end(JSON.stringify({ type: "about:blank", title: "Error", status, detail, error }));
}

/** Begins an event stream; each call of what it returns sends one event. */
export function eventStream(response: ServerResponse) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write("retry: 2000\n\n");
  return (event: string, id: string, data: unknown) =>
    response.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The status of a scheduler that has these agents, all idle. */
export function agentsOf(...names: readonly string[]): Routes {
  return { "GET /control/status": snapshotOf(names.map((name) => anAgentStatus(name))) };
}

/** The status of a scheduler without a gateway. */
export function snapshotOf(
  agents: readonly AgentStatus[],
  more: Partial<StatusSnapshot["scheduler"]> = {},
): StatusSnapshot {
  const { scheduler, ...snapshot } = fakeSnapshot([]);
  const usual = { ...scheduler, project: "project", gatewayUrl: null };
  return { ...snapshot, agents, scheduler: { ...usual, ...more } };
}
