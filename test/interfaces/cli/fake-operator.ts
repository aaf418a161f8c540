import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentStatus, StatusSnapshot } from "../../../streams/status/wire.ts";
import { ensureApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { lockProject } from "../../../src/foundation/store/project-lock.ts";
import { builtAl, compileCache } from "../../helpers/scheduler.ts";

/** What an `al` process did. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Folders {
  readonly projectDir: string;
  readonly home: string;
  /** Runs the built `al` as a process without a terminal. */
  al(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ran>;
  /** Runs `al` in a line of bash, `$AL` standing for the command. */
  bash(line: string): Promise<Ran>;
  /** Runs `al` until what it writes matches, then interrupts it. */
  interrupt(args: readonly string[], when: RegExp): Promise<Ran>;
  remove(): void;
}

/** An empty project and an AL_HOME for it. */
export function makeFolders(): Folders {
  const folder = mkdtempSync(join(tmpdir(), "al-cli-"));
  const [projectDir, home] = [join(folder, "project"), join(folder, "home")];
  mkdirSync(projectDir);
  writeFileSync(join(projectDir, "config.toml"), "");
  const env = { PATH: process.env.PATH, HOME: folder, AL_HOME: home, ...compileCache };
  return {
    projectDir,
    home,
    al: (args, more = {}) => {
      const project = args.includes("-p") ? [] : ["-p", projectDir];
      return runProcess([process.execPath, builtAl, ...args, ...project], { ...env, ...more });
    },
    bash: (line) => {
      const command = `${process.execPath} ${builtAl} -p ${projectDir}`;
      return runProcess(["/bin/bash", "-c", line], { ...env, AL: command });
    },
    interrupt: (args, when) =>
      runProcess([process.execPath, builtAl, ...args, "-p", projectDir], env, when),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function runProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  interruptAt: RegExp = /^\b$/,
): Promise<Ran> {
  const [command = "", ...rest] = args;
  const child = spawn(command, rest, { env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  const look = () => interruptAt.test(stdout + stderr) && child.kill("SIGINT");
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => ((stdout += chunk), look()));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => ((stderr += chunk), look()));
  return new Promise((done) =>
    child.on("close", (code, signal) => {
      // As a shell tells it.
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

export interface FakeOperator {
  readonly routes: Routes;
  /** `POST /control/pause` and the like, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** A scheduler as far as the command line can tell: it holds the project and answers on a Unix socket. */
export async function startFakeOperator(
  { projectDir, home }: Folders,
  routes: Routes,
): Promise<FakeOperator> {
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
    asked,
    close: async () => {
      if (!server.listening) return;
      lock.release();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

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
    ...rest,
  };
  return { scheduler, agents, recentLogs: [], locks: [] };
}
