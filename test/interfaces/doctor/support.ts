import { spawn } from "node:child_process";
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
import { createServer as createNetServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ensureApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { storeField } from "../../../src/foundation/credentials/edit-credential.ts";
import { parseCredentialReference } from "../../../src/foundation/contracts/credential-reference.ts";
import { runChecks } from "../../../src/interfaces/doctor/run-checks.ts";
import type { CheckFinding, RunChecksOptions } from "../../../src/interfaces/doctor/run-checks.ts";
import { runHere } from "../cli/fake-operator.ts";
import { listen } from "../../helpers/listen.ts";
import { perTest } from "../../helpers/per-test.ts";

export const agentConfig = "agents/dev/config.toml";

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

/** A project without a fault, with an AL_HOME of its own. */
type Ward = Awaited<ReturnType<typeof makeWard>>;
const current = perTest(makeWard, (current) => current.remove());

/** The ward of the running test. */
export const ward = new Proxy({} as Ward, {
  get: (_target, key) => Reflect.get(current(), key) as unknown,
});

type CheckOptions = Pick<Partial<RunChecksOptions>, "repair" | "platform" | "selinux">;

async function makeWard() {
  const folder = mkdtempSync(join(tmpdir(), "al-doctor-"));
  const [dir, home] = [join(folder, "project"), join(folder, "home")];
  const runsDir = join(folder, "al-runs");
  const DOCKER_HOST = `unix://${folder}/no-engine.sock`;
  const { PATH } = process.env;
  const env: NodeJS.ProcessEnv = { PATH, HOME: folder, AL_HOME: home, DOCKER_HOST };
  const checks = async (options: CheckOptions = {}) => {
    const found: CheckFinding[] = [];
    const context = { projectDir: dir, env, runsDir, repair: false, ...options };
    for await (const one of runChecks(context)) found.push(one);
    return found;
  };
  /** Runs a line of bash in the project, or in this process if it is a command of al. Fails unless that succeeds. */
  const run = async (line: string) => {
    const { code, output } = await (line.startsWith("al ") ? al : bash)(line, dir, env);
    expect({ line, code, output }).toMatchObject({ code: 0 });
    return output;
  };
  /** Replaces a text in a file, or in one line of it; it must be there. */
  const edit = (path: string, from: string, to: string, line: number | null = null) => {
    const file = join(dir, path);
    const lines = readFileSync(file, "utf8").split("\n");
    const [start, end] = line === null ? [0, lines.length] : [line - 1, line];
    const part = lines.slice(start, end).join("\n");
    if (!part.includes(from)) throw new Error(`${path} has no ${from} there: ${part}`);
    const edited = lines.toSpliced(start, end - start, part.replace(from, to));
    writeFileSync(file, edited.join("\n"));
  };
  const made = {
    dir,
    home,
    env,
    /** Stands for `/tmp/al-runs`; not made yet. */
    runsDir,
    write: (path: string, text: string) => {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    },
    edit,
    /** Puts lines before the last table of the project's config. */
    toProject: (lines: string) => edit("config.toml", "[gateway]", `${lines}\n\n[gateway]`),
    /** The same for the agent's config. */
    toAgent: (lines: string) => edit(agentConfig, "[runtime]", `${lines}\n\n[runtime]`),
    credential: (reference: string, field: string, secret = "a-secret-0123456789") => {
      const parsed = parseCredentialReference(reference);
      if (parsed === null) throw new Error(reference);
      return storeField(home, { ...parsed, field, secret, replace: true });
    },
    /** The findings of all checks. */
    runChecks: checks,
    /** Those of one check. */
    found: async (name: string, options?: CheckOptions) =>
      (await checks(options)).filter(({ check }) => check === name),
    /** Runs the command at the end of a fix. */
    fix: (finding?: CheckFinding) => run((finding?.fix ?? "").replace(/^.*: (?=al )/, "")),
    run,
    /** Changes with every file, its content and its mode. */
    fingerprint: () => fingerprint(folder).join("\n"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  made.write("config.toml", project);
  made.write("main.script.toml", '[[turns]]\ntext = "done"\n');
  made.write(agentConfig, agent);
  made.write("agents/dev/SKILL.md", "Do it.\n");
  await ensureApiKey(home);
  await made.credential("github_token", "token");
  await made.credential("github_webhook_secret", "secret");
  return made;
}

/** The words of the command are those that bash makes of it. */
async function al(line: string, cwd: string, env: NodeJS.ProcessEnv) {
  const { output } = await bash(`al() { printf '%s\\n' "$@"; }; ${line}`, cwd, env);
  const words = output.trimEnd().split("\n");
  const args = words.includes("-p") ? words : [...words, "-p", cwd];
  const { code, stdout, stderr } = await runHere(args, env);
  return { code, output: stdout + stderr };
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
  const stats = lstatSync(path);
  const own = `${path} ${stats.mode.toString(8)}`;
  if (stats.isDirectory()) {
    return [own, ...readdirSync(path).flatMap((name) => fingerprint(join(path, name)))];
  }
  return [stats.isFile() ? `${own} ${readFileSync(path, "base64")}` : own];
}

/** What an engine answers to `GET path`; others get 404. */
type EngineAnswers = Readonly<Record<string, unknown>>;

/** A container engine as far as the doctor can tell, at the ward's DOCKER_HOST, until the test ends. */
async function startEngine(answers: EngineAnswers): Promise<void> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/\?.*/, "");
    const known = Object.hasOwn(answers, path);
    response.writeHead(known ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(known ? answers[path] : { message: `no ${path}` }));
  });
  const socket = (ward.env.DOCKER_HOST ?? "").replace("unix://", "");
  await new Promise<void>((done) => server.listen(socket, done));
  onTestFinished(() => void server.close());
}

const healthyEngine: EngineAnswers = {
  "/version": { Version: "27.0.0" },
  "/info": { NCPU: 4 },
  "/images/al-agent:latest/json": { Id: "sha256:1", Config: { Labels: {} } },
  "/images/own:1/json": { Id: "sha256:1", Config: { Labels: {} } },
  "/networks/bridge": { Name: "bridge" },
  "/containers/json": [],
};

/** An engine's answer about the image `theirs:1`. */
export const ofAnotherProject: EngineAnswers = {
  "/images/theirs:1/json": {
    Id: "sha256:3",
    Config: { Labels: { "al.version": "0.1.0", "al.project": "0123456789abcdef" } },
  },
};

/** An image of one's own: the tag of the default one is made of the whole program, which takes a second. */
const ownImage = 'image = "own:1"';

/** Lets the agent run in a container. */
export function containerAgent(): void {
  ward.edit(agentConfig, '"host-user"\nrun_as = "$USER"', '"container"');
}

/** Lets the agent run in a container of an engine with these answers, by these lines of `[local]`. */
export async function runInContainer(answers: EngineAnswers = {}, local = ownImage): Promise<void> {
  containerAgent();
  ward.toProject(`[local]\n${local.includes("image") ? "" : `${ownImage}\n`}${local}`);
  await startEngine({ ...healthyEngine, ...answers });
}

/** Gives the project a Swarm with these lines of `[cluster]`, whose manager has these answers. */
export async function runInCluster(lines: string, answers: EngineAnswers = {}): Promise<void> {
  ward.toProject(`[cluster]\nengine = "swarm"\n${lines}`);
  const Swarm = { LocalNodeState: "active", ControlAvailable: true };
  const manager = { "/info": { NCPU: 4, Swarm }, "/nodes": swarmNodes("ready") };
  await startEngine({ ...healthyEngine, ...manager, ...answers });
}

/** Machines of a Swarm in these states, as its manager lists them. */
export function swarmNodes(...states: readonly string[]) {
  return states.map((state, index) => ({
    Description: { Hostname: `node-${index + 1}` },
    Status: { State: state },
    Spec: { Availability: "active" },
  }));
}

/** Lets another program have the gateway's port. */
export async function takePort(): Promise<void> {
  const server = createNetServer();
  onTestFinished(() => void server.close());
  const port = await listen(server);
  ward.edit("config.toml", "port = 0", `port = ${port}`);
}

/** Writes a file of the project's state, as only its owner may see it. */
export function writeState(path: string, text: string): void {
  ward.write(join(".al", path), text);
  chmodSync(join(ward.dir, ".al"), 0o700);
}

/** A path in the ward's credential store. */
export function store(...parts: readonly string[]): string {
  return join(ward.home, "credentials", ...parts);
}
