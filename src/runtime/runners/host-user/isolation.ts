import type { RunNetwork } from "../../../../streams/run-network.ts";
import { cannotClose, closingShell, findNetworkTools } from "./closed-network.ts";
import type { NetworkTools } from "./closed-network.ts";
import { firstThatWorks } from "./probe-isolation.ts";
import type { Confine, Probed } from "./probe-isolation.ts";
import type { Program, RunOrder } from "./supervisor-order.ts";

/** How the processes of a run are held together, and away from the network. */
export interface Isolation {
  /** The program, started so that all it starts ends with it. */
  readonly confine: Confine;
  /** Why there is no PID namespace; null when there is. */
  readonly unconfined: string | null;
  /** Whether it has a network of its own, with nothing but the loopback interface. */
  readonly isClosed: boolean;
  /** Why it has none although it should; null when it has one, or is to be open. */
  readonly notClosed: string | null;
  /** Why the kernel gave no answer, such as that descriptors are used up; null when it did. Until then no run starts. */
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
 * The first process of a namespace: it reaps what is orphaned, and with it ends all the rest. Its own words
 * (`Terminated`) are no output of the run.
 */
const init = 'exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-; exit $?';

const isRoot = (): boolean => process.getuid?.() === 0;

/** Finds out what the kernel allows this user, for a run that has this of the network. */
export async function findIsolation(
  env: NodeJS.ProcessEnv,
  network: RunNetwork,
): Promise<Isolation> {
  const closed = network === "open" ? null : await findClosed(env);
  if (closed !== null && "confine" in closed) return { ...none, ...closed, isClosed: true };
  if (closed?.isPassing) return { ...none, unknown: closed.why };
  const notClosed = closed?.why ?? null;
  // A run that must be closed does not start.
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

/** Gives why the network of a run of this OS user can't be closed, null when it can; asked until the kernel answers. */
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

/** Null when the run may start. */
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
