import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runWords } from "../../../src/interfaces/cli/program.ts";
import type { AgentStatus, StatusSnapshot } from "../../../streams/status/wire.ts";
import { ensureApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { lockProject } from "../../../src/foundation/store/project-lock.ts";
import { builtAl, compileCache } from "../../helpers/scheduler.ts";

/** The result of an `al` process. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A project and an AL_HOME for it. */
export type Folders = ReturnType<typeof makeFolders>;

/** Makes an empty project and an AL_HOME for it. */
export function makeFolders() {
  const folder = mkdtempSync(join(tmpdir(), "al-cli-"));
  const [projectDir, home] = [join(folder, "project"), join(folder, "home")];
  mkdirSync(projectDir);
  writeFileSync(join(projectDir, "config.toml"), "");
  const env = { PATH: process.env.PATH, HOME: folder, AL_HOME: home, ...compileCache };
  const inProject = (args: readonly string[]) =>
    args.includes("-p") ? args : [...args, "-p", projectDir];
  return {
    projectDir,
    home,
    /** Runs `al` in this process, without a terminal. */
    al: (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
      runHere(inProject(args), { ...env, ...more }),
    /** Runs the built `al` as a process without a terminal. */
    process: (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
      runProcess([process.execPath, builtAl, ...inProject(args)], { ...env, ...more }),
    /** Runs `al` in a line of bash, `$AL` standing for the command. */
    bash: (line: string) => {
      const command = `${process.execPath} ${builtAl} -p ${projectDir}`;
      return runProcess(["/bin/bash", "-c", line], { ...env, AL: command });
    },
    /** Runs `al` until its output matches, then interrupts it. */
    interrupt: (args: readonly string[], when: Pick<RegExp, "test">) =>
      runProcess([process.execPath, builtAl, ...args, "-p", projectDir], env, when),
    /** Writes a file of the project; its absolute path. */
    write: (path: string, text: string) => {
      const file = join(projectDir, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    read: (path: string) => readFileSync(join(projectDir, path), "utf8"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Folders that are made anew for each test of a file, and the scheduler in front of them. */
export function cliProject() {
  let folders: Folders;
  let operator: FakeOperator | null;
  beforeEach(() => void ([folders, operator] = [makeFolders(), null]));
  afterEach(async () => {
    await operator?.close();
    folders.remove();
  });
  return {
    get projectDir() {
      return folders.projectDir;
    },
    get home() {
      return folders.home;
    },
    al: (...given: Parameters<Folders["al"]>) => folders.al(...given),
    /** Standard output of a command that must succeed. */
    output: async (...given: Parameters<Folders["al"]>) => {
      const { code, stdout, stderr } = await folders.al(...given);
      expect(code, stderr).toBe(0);
      return stdout;
    },
    /** Standard error of a command that must fail with this exit code. */
    failure: async (args: readonly string[], code = 1) => {
      const ran = await folders.al(args);
      expect(ran.code, ran.stdout).toBe(code);
      return ran.stderr;
    },
    /** The document that a command prints with `--json`. */
    json: async (args: readonly string[]) => {
      const { stdout } = await folders.al([...args, "--json"]);
      return JSON.parse(stdout) as unknown;
    },
    process: (...given: Parameters<Folders["process"]>) => folders.process(...given),
    bash: (line: string) => folders.bash(line),
    interrupt: (...given: Parameters<Folders["interrupt"]>) => folders.interrupt(...given),
    write: (...given: Parameters<Folders["write"]>) => folders.write(...given),
    read: (path: string) => folders.read(path),
    /** Lets a fake scheduler run the project, until the test ends. */
    serve: async (routes: Routes) => (operator = await startFakeOperator(folders, routes)),
    get operator() {
      if (operator === null) throw new Error("no scheduler was started");
      return operator;
    },
  };
}

/** Runs a command in this process. */
export async function runHere(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const { stdout, stderr } = process;
  // oxlint-disable-next-line typescript/unbound-method -- put back as they were
  const before = { env: process.env, out: stdout.write, err: stderr.write };
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
    stdout.write = before.out;
    stderr.write = before.err;
  }
}

function runProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  interruptAt: Pick<RegExp, "test"> = /^\b$/,
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

/** `GET /path` to what it is answered with; the query is part of neither. */
export type Routes = Record<string, (request: Asked, response: ServerResponse) => unknown>;

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
  const result = handler({ query: url.searchParams, body, headers: request.headers }, response);
  if (result !== undefined) response.setHeader("content-type", "application/json");
  if (result !== undefined) response.end(JSON.stringify(result));
}

/** Answers with a problem document. */
export function problem(response: ServerResponse, status: number, error: string, detail: string) {
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

export function snapshotOf(
  agents: readonly AgentStatus[],
  rest: Partial<StatusSnapshot["scheduler"]> = {},
): StatusSnapshot {
  const scheduler = {
    paused: false,
    pausedWork: false,
    pausedAt: null,
    draining: false,
    startedAt: new Date().toISOString(),
    version: "0.1.0",
    project: "project",
    gatewayUrl: null,
    running: 0,
    cronJobs: 0,
    webhookSources: [],
    error: null,
    warnings: [],
    alerts: { open: 0, dead: 0 },
    questions: 0,
    ...rest,
  };
  return { scheduler, agents, recentLogs: [], locks: [] };
}
