import { spawn } from "node:child_process";
import { lstat, mkdtemp, rm, writeFile } from "node:fs/promises";
import { userInfo, tmpdir } from "node:os";
import { join } from "node:path";
import { isatty } from "node:tty";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { runtimes } from "../../../../streams/runtimes.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { shareBaseDir, whyUnsafe } from "../../../runtime/runners/host-user/base-dir.ts";
import { runAgentProgram } from "../../../runtime/runners/host-user/run-agent-program.ts";
import { anyAgent, sudoersRule } from "../../../runtime/runners/host-user/sudoers-rule.ts";
import { isOwnUser, sendOrder } from "../../../runtime/wire/supervisor-process.ts";
import { userExists } from "../../../runtime/wire/user-exists.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";
import { agentNames, finding, note, alCommand, ok, type Check, type Finding } from "../finding.ts";

/** Whether agents can run as their OS users, and which agents are isolated from each other. */
export const hostUser: Check = async (context) => {
  const agents = enabledAgents(context).filter(({ runtime }) => runtimes[runtime.type].runsAsUser);
  const own = agents.filter(({ runtime }) => isOwnUser(runtime.runAs));
  const others = Map.groupBy(
    agents.filter((agent) => !own.includes(agent)),
    ({ runtime }) => runtime.runAs,
  );
  const accounts = await Promise.all(
    [...others.keys()].map((runAs) => checkAccount(runAs, context)),
  );
  const folder = agents.length === 0 ? [] : await checkRunsDir(context);
  return [...unprotected(own), ...accounts.flat(), ...folder, ...[...others].flatMap(shared)];
};

function unprotected(agents: readonly AgentConfig[]): Finding[] {
  if (agents.length === 0) return [];
  const names = agentNames(agents.map(({ name }) => name));
  const text = `${names} ${agents.length === 1 ? "runs" : "run"} as your user and can read your files and stored secrets`;
  const fix =
    'for agents that you don\'t trust, set type = "container", or an OS user of their own';
  return [note(text, fix)];
}

function shared([runAs, agents]: readonly [string, readonly AgentConfig[]]): Finding[] {
  if (agents.length < 2) return [];
  const text = `${namesOf(agents)} share the OS user ${runAs}: each can see what the others' runs do`;
  return [note(text, "give each a run_as of its own to keep them apart")];
}

function namesOf(agents: readonly AgentConfig[]): string {
  return agents.map(({ name }) => name).join(", ");
}

/** Whether host users' runs can work in their folder: its owner could swap its contents. */
async function checkRunsDir({ runsDir }: DoctorContext): Promise<Finding[]> {
  const stats = await lstat(runsDir).catch(() => null);
  // The first run creates the folder.
  if (stats === null) return [];
  const why = stats.isSymbolicLink() ? "is a link" : whyUnsafe(stats);
  if (why === null) return [];
  const text = `the folder of runs ${why}, so no run can work in it`;
  const repair = stats.isDirectory() ? shareBaseDir(runsDir) : `rm ${shellWord(runsDir)}`;
  const fix = userInfo().uid === 0 ? repair : `sudo ${repair}`;
  return [finding("error", text, runsDir, fix)];
}

/** Whether the scheduler can start runs as the OS user `runAs`; on Linux the findings can repair it. */
async function checkAccount(runAs: string, context: DoctorContext): Promise<Finding[]> {
  if (context.platform !== "linux") return [byHand(runAs, context)];
  const { env } = context;
  if (!(await isProgram("sudo", env))) return [await withoutSudo(runAs, context)];
  if (!(await userExists(runAs, env))) return [withoutUser(runAs, context)];
  const output = await tryOut(runAs, context);
  if (output === null) return [ok(`${runAs}: sudo lets the scheduler start runs as it`)];
  if (!isRefusal(output)) return [unableToRun(runAs, output)];
  return [isRoot() ? withoutRootsRule(runAs) : withoutRule(runAs, context)];
}

/**
 * Does everything that a run's start does, without a run: asks to end a run that never existed. Its folder does not
 * exist, because the folder of all runs may be closed to other users until their first run. Null if it works.
 */
function tryOut(runAs: string, { projectDir, env }: DoctorContext): Promise<string | null> {
  const { PATH = "" } = env;
  const instanceId = "al-doctor-aaaaaaaa";
  const program = runAgentProgram("al-doctor", projectDir);
  const order = { order: "end", instanceId, workDir: "/nonexistent/al-doctor" } as const;
  return sendOrder({ program, runAs, env: { PATH, LC_ALL: "C" } }, order);
}

function isRefusal(output: string): boolean {
  return /password is required|not allowed|may not run|not in the sudoers/i.test(output);
}

/** Without sudo nothing can be installed: all manual steps of root, in one go. */
async function withoutSudo(runAs: string, { projectDir, env }: DoctorContext): Promise<Finding> {
  const missing = `sudo, which starts runs as the OS user ${runAs}, is not installed`;
  const makeUser = (await userExists(runAs, env)) ? [] : [`useradd ${userFlags(runAs).join(" ")}`];
  const steps = ["apt-get install sudo", ...makeUser];
  const finding = { severity: "error", where: "PATH" } as const;
  if (isRoot()) return { ...finding, what: missing, fix: steps.join(" && ") };
  const rule = ruleFor(runAs, projectDir);
  const edit = `visudo -f ${rulePath(rule)}`;
  const text = `${missing}; with it ${rulePath(rule)} has to contain this rule:\n${rule.trimEnd()}`;
  return { ...finding, what: text, fix: `as root: ${[...steps, edit].join(" && ")}` };
}

function withoutUser(runAs: string, context: DoctorContext): Finding {
  return finding(
    "error",
    `the OS user ${runAs} does not exist`,
    "[runtime] run_as",
    alCommand(context, "doctor"),
    async () => {
      await asRoot("useradd", userFlags(runAs), context.env);
      // Root's own sudoers line is enough. For others the user is useless without the rule, which may exist.
      if (!isRoot()) await installRule(ruleFor(runAs, context.projectDir), context.env);
    },
  );
}

function withoutRule(runAs: string, context: DoctorContext): Finding {
  const rule = ruleFor(runAs, context.projectDir);
  return finding(
    "error",
    `sudo does not let ${userInfo().username} start runs as ${runAs}`,
    rulePath(rule),
    alCommand(context, "doctor"),
    () => installRule(rule, context.env),
  );
}

/** Root's right to everything is a line of the main file, which only a person edits. */
function withoutRootsRule(runAs: string): Finding {
  return finding(
    "error",
    `sudo does not let root start runs as ${runAs}: root's usual line is not in /etc/sudoers`,
    "/etc/sudoers",
    "visudo, and add the line: root ALL=(ALL:ALL) ALL",
  );
}

function ruleFor(runAs: string, projectDir: string): string {
  const scheduler = userInfo().username;
  return sudoersRule({ scheduler, runAs, program: runAgentProgram(anyAgent, projectDir) });
}

/** For example a program in a home that other OS users may not enter. */
function unableToRun(runAs: string, output: string): Finding {
  const { file, args } = runAgentProgram("", "");
  return finding(
    "error",
    `${runAs} cannot run al: ${output.split("\n").slice(0, 3).join(" ")}`,
    `${file} ${args[0] ?? ""}`,
    "install Node and al where that user can read them, such as npm install --global almanac",
  );
}

/** Other systems have their own ways to create users. */
function byHand(runAs: string, context: DoctorContext): Finding {
  const rule = ruleFor(runAs, context.projectDir);
  return finding(
    "note",
    `al can't create users on this system: create ${runAs} without a login (System Settings, or sysadminctl -addUser ${runAs} -shell /usr/bin/false), then put this into ${rulePath(rule)} with sudo visudo -f:\n${rule}`,
    null,
    `sudo visudo -f ${rulePath(rule)}`,
  );
}

/** Arguments of useradd for a system user without a home and a login. */
function userFlags(name: string): readonly string[] {
  const flags = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"];
  return [...flags, "--shell", "/usr/sbin/nologin", "--", name];
}

/** Place of a rule for sudo: a file of its own, named after the alias in it. */
function rulePath(rule: string): string {
  const [, id = ""] = /ALMANAC_([0-9A-F]+)/.exec(rule) ?? [];
  return `/etc/sudoers.d/almanac-${id.toLowerCase()}`;
}

/**
 * Installs a rule after visudo has checked it, and removes it again if it conflicts with the other rules: a broken one
 * would lock all users out of sudo. It is renamed into place, so that sudo never reads half of it or another mode; sudo
 * ignores names with a dot. Rejects with the reason of a failure.
 */
async function installRule(rule: string, env: NodeJS.ProcessEnv): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "al-sudoers-"));
  const path = rulePath(rule);
  try {
    const draft = join(dir, "rule");
    await writeFile(draft, rule, { mode: 0o440 });
    await asRoot("visudo", ["-c", "-q", "-f", draft], env);
    await asRoot("install", ["-m", "440", "-o", "root", "-g", "root", draft, `${path}.new`], env);
    await asRoot("mv", ["-f", `${path}.new`, path], env);
    await asRoot("visudo", ["-c", "-q"], env).catch(async (error: unknown) => {
      await asRoot("rm", ["-f", path], env);
      throw error;
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Whether the system knows the program. */
async function isProgram(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { code } = await run("sh", ["-c", 'command -v "$0"', name], withSystemPath(env));
  return code === 0;
}

/** Whether this process runs as root, which needs no sudo and no rule. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * Runs a program as root: directly, or through sudo, which may ask for a password only on a terminal. Rejects with its
 * output.
 */
async function asRoot(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const ask = isatty(0) && isatty(2) ? [] : ["-n"];
  const [file, rest] = isRoot()
    ? [program, args]
    : (["sudo", [...ask, "--", program, ...args]] as const);
  const { code, output } = await run(file, rest, withSystemPath(env));
  if (code === 0) return;
  const command = [program, ...args].join(" ");
  const who = isRoot() ? command : `sudo ${command}`;
  throw new Error(`${who} failed: ${output.trim() || `exit code ${code ?? "none"}`}`);
}

/** The path with the folders of root's programs, which other users lack. */
function withSystemPath(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, PATH: `${env.PATH ?? ""}:/usr/sbin:/sbin` };
}

const maxOutput = 2000;

function run(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    // sudo asks for a password on the terminal itself; standard output is for data.
    const child = spawn(file, args, { env, stdio: ["inherit", "pipe", "pipe"] });
    let output = "";
    const append = (text: string) => (output = (output + text).slice(-maxOutput));
    child.stdout.setEncoding("utf8").on("data", append);
    child.stderr.setEncoding("utf8").on("data", append);
    child.once("error", (error) => resolve({ code: null, output: error.message }));
    child.once("close", (code) => resolve({ code, output }));
  });
}
