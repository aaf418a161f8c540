import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { createServer as createNetServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ensureApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { storeField } from "../../../src/foundation/credentials/edit-credential.ts";
import { parseCredentialReference } from "../../../src/foundation/contracts/credential-reference.ts";
import { runChecks } from "../../../src/interfaces/doctor/run-checks.ts";
import type { CheckFinding, RunChecksOptions } from "../../../src/interfaces/doctor/run-checks.ts";
import { builtAl, compileCache } from "../../helpers/scheduler.ts";

/** A project without a fault, with an AL_HOME of its own. */
export interface Ward {
  readonly dir: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** Stands for `/tmp/al-runs`; not made yet. */
  readonly runsDir: string;
  write(path: string, text: string): void;
  /** Replaces a text in a file, or in one line of it; it must be there. */
  edit(path: string, from: string, to: string, line?: number | null): void;
  credential(reference: string, field: string, secret?: string): Promise<string>;
  /** What the doctor finds. */
  runChecks(
    options?: Pick<Partial<RunChecksOptions>, "repair" | "platform">,
  ): Promise<CheckFinding[]>;
  /** Runs a line in bash, in the project; `al` is the built command. */
  bash(line: string): Promise<{ readonly code: number | null; readonly output: string }>;
  /** Changes with every file, its content and its mode. */
  fingerprint(): string;
  remove(): void;
}

const project = `[models.scripted]
provider = "scripted"
script = "main.script.toml"

[models.claude]
provider = "anthropic"
model = "claude-sonnet-4-5"

[webhooks.hub]
type = "github"
credential = "default"

[gateway]
port = 0
`;

const agent = `models = ["scripted"]
credentials = ["github_token"]
schedule = "0 9 * * 1-5"
timezone = "Europe/Berlin"

[[webhooks]]
source = "hub"
events = ["issues"]

[runtime]
type = "host-user"
run_as = "$USER"
`;

export async function makeWard(): Promise<Ward> {
  const folder = mkdtempSync(join(tmpdir(), "al-doctor-"));
  const [dir, home] = [join(folder, "project"), join(folder, "home")];
  const runsDir = join(folder, "al-runs");
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: folder,
    AL_HOME: home,
    ...compileCache,
  };
  env.DOCKER_HOST = `unix://${folder}/no-engine.sock`;
  const ward: Ward = {
    dir,
    home,
    env,
    runsDir,
    write: (path, text) => {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    },
    edit: (path, from, to, line = null) => {
      const text = readFileSync(join(dir, path), "utf8");
      const start = line === null ? 0 : text.split("\n", line - 1).join("\n").length;
      const end = line === null ? text.length : text.split("\n", line).join("\n").length;
      const part = text.slice(start, end);
      if (!part.includes(from)) throw new Error(`${path} has no ${from} there: ${part}`);
      const next = `${text.slice(0, start)}${part.replace(from, to)}${text.slice(end)}`;
      writeFileSync(join(dir, path), next);
    },
    credential: (reference, field, secret = "a-secret-0123456789") => {
      const parsed = parseCredentialReference(reference);
      if (parsed === null) throw new Error(reference);
      return storeField(home, { ...parsed, field, secret, replace: true });
    },
    runChecks: async (options = {}) => {
      const found: CheckFinding[] = [];
      const context = { projectDir: dir, env, runsDir, repair: false, ...options };
      for await (const one of runChecks(context)) found.push(one);
      return found;
    },
    bash: (line) => bash(`al() { ${process.execPath} ${builtAl} "$@"; }; ${line}`, dir, env),
    fingerprint: () => fingerprint(folder).join("\n"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  ward.write("config.toml", project);
  ward.write("main.script.toml", '[[turns]]\ntext = "done"\n');
  ward.write("agents/dev/config.toml", agent);
  ward.write("agents/dev/SKILL.md", "Do it.\n");
  await ensureApiKey(home);
  await ward.credential("github_token", "token");
  await ward.credential("github_webhook_secret", "secret");
  return ward;
}

function bash(line: string, cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn("/bin/bash", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const hear = (text: string) => (output += text);
  child.stdout.setEncoding("utf8").on("data", hear);
  child.stderr.setEncoding("utf8").on("data", hear);
  return new Promise<{ code: number | null; output: string }>((done) =>
    child.once("close", (code) => done({ code, output })),
  );
}

function fingerprint(path: string): string[] {
  const { mode } = lstatSync(path);
  const own = `${path} ${mode.toString(8)}`;
  if ((mode & 0o170000) === 0o040000) {
    return [own, ...readdirSync(path).flatMap((name) => fingerprint(join(path, name)))];
  }
  const isFile = (mode & 0o170000) === 0o100000;
  return [isFile ? `${own} ${createHash("sha256").update(readFileSync(path)).digest("hex")}` : own];
}

/** What an engine answers to `GET path`; others get 404. */
type EngineAnswers = Readonly<Record<string, unknown>>;

/** A container engine as far as the doctor can tell, at the ward's DOCKER_HOST. */
async function startEngine(ward: Ward, answers: EngineAnswers): Promise<Server> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/\?.*/, "");
    const known = Object.hasOwn(answers, path);
    response.writeHead(known ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(known ? answers[path] : { message: `no ${path}` }));
  });
  const socket = (ward.env.DOCKER_HOST ?? "").replace("unix://", "");
  await new Promise<void>((done) => server.listen(socket, done));
  return server;
}

const healthyEngine: EngineAnswers = {
  "/version": { Version: "27.0.0" },
  "/info": { NCPU: 4 },
  "/images/al-agent:latest/json": { Id: "sha256:1", Config: { Labels: {} } },
  "/networks/bridge": { Name: "bridge" },
  "/containers/json": [],
};

/** Takes what is to be closed after the test. */
export type Closing = (server: { close(): unknown }) => void;

/** Lets the agent run in a container of an engine with these answers. */
export async function runInContainer(
  ward: Ward,
  close: Closing,
  answers: EngineAnswers,
  local = "",
): Promise<void> {
  ward.edit("agents/dev/config.toml", '"host-user"\nrun_as = "$USER"', '"container"');
  ward.edit("config.toml", "[gateway]", `${local}[gateway]`);
  close(await startEngine(ward, { ...healthyEngine, ...answers }));
}

/** Machines of a Swarm in these states, as its manager lists them. */
export function swarmNodes(...states: readonly string[]) {
  return states.map((state, index) => ({
    Description: { Hostname: `node-${index + 1}` },
    Status: { State: state },
    Spec: { Availability: "active" },
  }));
}

/** Gives the project a Swarm with these lines of `[cluster]`, whose manager has these answers. */
export async function runInCluster(
  ward: Ward,
  close: Closing,
  lines: string,
  answers: EngineAnswers = {},
): Promise<void> {
  ward.edit("config.toml", "[gateway]", `[cluster]\nengine = "swarm"\n${lines}\n\n[gateway]`);
  const Swarm = { LocalNodeState: "active", ControlAvailable: true };
  const manager = { "/info": { NCPU: 4, Swarm }, "/nodes": swarmNodes("ready") };
  close(await startEngine(ward, { ...healthyEngine, ...manager, ...answers }));
}

/** Lets another program have the gateway's port. */
export async function takePort(ward: Ward, close: Closing): Promise<void> {
  const server = createNetServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  close(server);
  const { port } = server.address() as AddressInfo;
  ward.edit("config.toml", "port = 0", `port = ${port}`);
}

/** Writes a file of the project's state, as only its owner may see it. */
export function writeState(ward: Ward, path: string, text: string): void {
  ward.write(join(".al", path), text);
  chmodSync(join(ward.dir, ".al"), 0o700);
}

/** A path in the ward's credential store. */
export function store({ home }: Ward, ...parts: readonly string[]): string {
  return join(home, "credentials", ...parts);
}
