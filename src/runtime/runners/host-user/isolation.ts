import type { RunNetwork } from "../../../../streams/run-network.ts";
import { cannotClose, closingShell, findNetworkTools } from "./closed-network.ts";
import type { NetworkTools } from "./closed-network.ts";
import type { Program, RunOrder } from "./supervisor-order.ts";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { messageOf } from "../../../foundation/errors.ts";

/** How the processes of a run are held together, and away from the network. */
export interface Isolation {
  /** The program, started so that all it starts ends with it. */
  readonly confine: Confine;
  /** Why the run gets no PID namespace; null if it has one. */
  readonly unconfined: string | null;
  /** Whether the run has a network of its own, with only the loopback interface. */
  readonly isClosed: boolean;
  /** Why the run has no network of its own; null if it has one, or is to be open. */
  readonly notClosed: string | null;
  /** Why the check failed for now, such as for lack of descriptors; null if it succeeded. Runs start only then. */
  readonly unknown: string | null;
}

const ownPids = ["--pid", "--fork", "--kill-child"];
const ownNetwork = ["--net", "--mount"];

/**
 * In a new user namespace: limits how many namespaces can be made in it. The kernel counts them for the OS user, whose
 * runs can't start once its namespaces are used up.
 */
const limit =
  'for max in /proc/sys/user/max_*_namespaces; do echo 64 > "$max"; done 2>/dev/null; exec "$@"';

/**
 * The first process of a namespace: it reaps orphans, and its end kills all others. Its own messages (`Terminated`)
 * stay out of the run's output.
 */
const init = 'exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-; exit $?';

const isRoot = (): boolean => process.getuid?.() === 0;

/** Finds the best isolation that the kernel allows this user, for a run with this network mode. */
export async function findIsolation(
  env: NodeJS.ProcessEnv,
  network: RunNetwork,
): Promise<Isolation> {
  const closed = network === "open" ? null : await findClosed(env);
  if (closed !== null && "confine" in closed) return { ...none, ...closed, isClosed: true };
  if (closed?.isPassing) return { ...none, unknown: closed.why };
  const notClosed = closed?.why ?? null;
  // A run whose network must be closed is refused: it would start open.
  if (network === "closed") return { ...none, notClosed };
  const open = await firstThatWorks(openVariants(), env);
  if ("confine" in open) return { ...none, ...open, notClosed };
  return open.isPassing
    ? { ...none, unknown: open.why }
    : { ...none, unconfined: open.why, notClosed };
}

const none: Isolation = {
  confine: (program) => program,
  unconfined: null,
  isClosed: false,
  notClosed: null,
  unknown: null,
};

/** Gives why the network of a run of this OS user can't be closed, null if it can; asked until the kernel answers. */
export function createClosingProbe(env: NodeJS.ProcessEnv): () => Promise<string | null> {
  let tried: Promise<Isolation> | undefined;
  return async () => {
    const { notClosed, unknown } = await (tried ??= findIsolation(env, "closed"));
    if (unknown !== null) tried = undefined;
    return notClosed;
  };
}

/** Why a run does not start. */
export interface Refusal {
  readonly reason: string;
  /** Whether it may start later, as it is. */
  readonly isPassing: boolean;
}

/** Why the run may not start; null if it may. */
export function refusalOf(
  { isClosed, notClosed, unconfined, unknown }: Isolation,
  { network, mustIsolate }: Pick<RunOrder, "network" | "mustIsolate">,
): Refusal | null {
  if (unknown !== null) return { reason: cannotIsolateNow(unknown), isPassing: true };
  if (network === "closed" && !isClosed)
    return { reason: cannotClose(notClosed ?? "unknown reason"), isPassing: false };
  const lost = notClosed ?? unconfined;
  return mustIsolate && lost !== null
    ? { reason: cannotIsolateNow(`${lost}, unlike for earlier runs`), isPassing: true }
    : null;
}

function cannotIsolateNow(why: string): string {
  return (
    `it can't be isolated from this machine's network and processes for now (${why}). It starts once that works: see ` +
    `whether this OS user has used up its namespaces, processes or open files, or the machine its memory or time`
  );
}

/** From the best to the least; the first two need root. */
function openVariants(): readonly Confine[] {
  const asRoot = [[...ownPids, "--mount-proc"], ownPids].map(
    (flags): Confine =>
      (program) =>
        startedBy(["unshare", ...flags, "--", ...asFirst(program)]),
  );
  const asUser = [["--mount-proc"], []].map((more): Confine => (program) => {
    const flags = [...asOneself(), ...ownPids, ...more];
    return startedBy(
      inUserNamespace("unshare", [], ["unshare", ...flags, "--", ...asFirst(program)]),
    );
  });
  return isRoot() ? [...asRoot, ...asUser] : asUser;
}

async function findClosed(env: NodeJS.ProcessEnv): Promise<Probed> {
  const tools = findNetworkTools(env);
  if (typeof tools === "string") return { why: tools, isPassing: false };
  return firstThatWorks(closedVariants(tools), env);
}

/**
 * The network is closed before its program's own user namespace begins, so that the program has no capability by which
 * it could open it again. A process that saw others of its user in /proc could write to their memory: without an own
 * /proc it is not closed.
 */
function closedVariants(tools: NetworkTools): readonly Confine[] {
  const { unshare } = tools;
  const closing = (program: Program, inner: readonly string[]) => {
    const first = [unshare, ...inner, ...ownPids, "--mount-proc", "--", ...asFirst(program)];
    return closingShell(tools, first);
  };
  const asRoot: Confine = (program) =>
    startedBy([unshare, ...ownNetwork, "--", ...closing(program, [])]);
  const asUser: Confine = (program) =>
    startedBy(inUserNamespace(unshare, ownNetwork, closing(program, asOneself())));
  return isRoot() ? [asRoot, asUser] : [asUser];
}

/** A further user namespace, in which the user's own id takes the place of that of its root. */
function asOneself(): readonly string[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  return ["--user", `--map-user=${uid}`, `--map-group=${gid}`];
}

/** `command` with all capabilities in a user namespace of its own, in which few more can be made. */
function inUserNamespace(
  unshare: string,
  more: readonly string[],
  command: readonly string[],
): readonly string[] {
  const flags = ["--user", "--map-root-user", ...more];
  return [unshare, ...flags, "--", "/bin/sh", "-c", limit, "al-run", ...command];
}

function asFirst({ file, args }: Program): readonly string[] {
  return ["/bin/sh", "-c", init, "al-run", file, ...args];
}

function startedBy([file = "", ...args]: readonly string[]): Program {
  return { file, args };
}

/** The program, started so that all it starts ends with it. */
type Confine = (program: Program) => Program;

/** Why one does not work here. */
interface Failure {
  readonly why: string;
  /** Whether it may work later: the machine lacked something at that moment, or took too long. */
  readonly isPassing: boolean;
}

type Probed = { readonly confine: Confine } | Failure;

/** The first variant that works. A passing failure ends the search: the variants after it isolate less. */
async function firstThatWorks(
  variants: readonly Confine[],
  env: NodeJS.ProcessEnv,
): Promise<Probed> {
  let failure: Failure = { why: "", isPassing: false };
  for (const confine of variants) {
    const failed = await tryOut(confine({ file: "true", args: [] }), env);
    if (failed === null) return { confine };
    failure = failed;
    if (failed.isPassing) break;
  }
  return failure;
}

/** Long enough for a machine under load, in ms. */
const timeoutMs = 5000;

function tryOut({ file, args }: Program, own: NodeJS.ProcessEnv): Promise<Failure | null> {
  // Its words are read in English.
  const env = { ...own, LC_ALL: "C" };
  // unshare waits for its child whatever TERM says.
  const options = { env, timeout: timeoutMs, killSignal: "SIGKILL" } as const;
  return new Promise<Failure | null>((resolve) => {
    execFile(file, [...args], options, (error, _out, stderr) => {
      if (error === null) return resolve(null);
      const { code, signal } = error;
      if (typeof code === "number") return resolve(failureOf(stderr, args));
      const ended = error.killed ? `no answer within ${timeoutMs / 1000} s` : `ended by ${signal}`;
      resolve({ why: code == null ? ended : error.message, isPassing: !missing.has(code ?? "") });
    });
    // A shortage of the machine, such as of memory, may throw at once.
  }).catch((error: unknown) => ({ why: messageOf(error), isPassing: true }));
}

/** Codes of a program that is missing or must not be started. */
const missing: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "EPERM"]);

/** The answers of the kernel and the tools that do not change by themselves. */
const lasting =
  /not permitted|permission denied|superuser|invalid argument|not implemented|not supported|(unrecognized|unknown|invalid) option|not found|no such file/i;

function failureOf(stderr: string, args: readonly string[]): Failure {
  const lines = stderr.trim().split("\n");
  const answer = lines.find((line) => lasting.test(line));
  const why = answer ?? (lines.at(-1) || "unshare failed");
  return { why, isPassing: answer === undefined && !isTurnedOff(args) };
}

/** Whether the administrator set a limit of namespaces to 0: the kernel then reports ENOSPC, as for used-up ones. */
function isTurnedOff(args: readonly string[]): boolean {
  const kinds = ["user", "net", "pid"].filter((kind) => args.includes(`--${kind}`));
  return kinds.some((kind) => {
    try {
      return readFileSync(`/proc/sys/user/max_${kind}_namespaces`, "utf8").trim() === "0";
    } catch {
      return false;
    }
  });
}
