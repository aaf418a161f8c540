import { cannotClose, closingShell, findNetworkTools } from "./closed-network.ts";
import type { NetworkTools } from "./closed-network.ts";
import { startConfined, type Confined, type Failure } from "./confined-start.ts";
import type { Program, RunOrder } from "../../wire/supervisor-order.ts";

/** How the processes of a run are contained, and isolated from the network; or why it does not start. */
export type Isolation =
  /** The run is in its own PID and network namespaces, with only the loopback interface. */
  | { readonly kind: "closed"; readonly confined: Confined }
  /** The run is in a PID namespace; `notClosed` is why the network is open, null if that is intended. */
  | { readonly kind: "confined"; readonly confined: Confined; readonly notClosed: string | null }
  /** The kernel gives this user no namespaces. No process was started. */
  | { readonly kind: "bare"; readonly unconfined: string; readonly notClosed: string | null }
  /** The network must be closed and can't be. */
  | { readonly kind: "unclosable"; readonly why: string }
  /** An earlier run of this user was isolated, and this one can't be. */
  | { readonly kind: "lost"; readonly why: string }
  /** The start failed temporarily, such as for lack of descriptors. */
  | { readonly kind: "unknown"; readonly why: string };

type Wanted = Pick<RunOrder, "network" | "mustIsolate" | "program">;

/** Starts a program wrapped by `Isolation`; `isClosed` if it then has no network. */
type Start = (program: Program, isClosed: boolean) => Promise<Confined | Failure>;

const ownPids = ["--pid", "--fork", "--kill-child"];
const ownNetwork = ["--net", "--mount"];

/**
 * In a new user namespace: limits how many namespaces can be created in it. The kernel counts them for the OS user,
 * whose runs can't start once its namespaces are used up.
 */
const limit =
  'for max in /proc/sys/user/max_*_namespaces; do echo 64 > "$max"; done 2>/dev/null; exec "$@"';

/**
 * The first process of a namespace: it reports its start on descriptor 3 and starts the program on request. It reaps
 * orphans, and its end kills all others. Its own messages (`Terminated`) stay out of the run's output.
 */
const init =
  'unset LC_ALL; echo >&3; read -r go <&3 || exit; exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-; exit $?';

const isRoot = (): boolean => process.getuid?.() === 0;

/** Starts the program with the best isolation that the kernel allows this user; it waits for `begin`. */
export async function isolate(
  wanted: Wanted,
  env: NodeJS.ProcessEnv,
  start: Start,
): Promise<Isolation> {
  const { network, mustIsolate, program } = wanted;
  if (network === "open") return isolateOpen(wanted, null, start);
  const closed = await startClosed(program, env, start);
  if ("child" in closed) return { kind: "closed", confined: closed };
  const { why, isPassing } = closed;
  if (isPassing) return { kind: "unknown", why };
  // A run whose network must be closed is rejected: it would start open.
  if (network === "closed") return { kind: "unclosable", why };
  return mustIsolate ? { kind: "lost", why } : isolateOpen(wanted, why, start);
}

async function isolateOpen(
  { program, mustIsolate }: Wanted,
  notClosed: string | null,
  start: Start,
): Promise<Isolation> {
  const open = await firstThatStarts(openVariants(), program, (one) => start(one, false));
  if ("child" in open) return { kind: "confined", confined: open, notClosed };
  const { why, isPassing } = open;
  if (isPassing) return { kind: "unknown", why };
  return mustIsolate ? { kind: "lost", why } : { kind: "bare", unconfined: why, notClosed };
}

/** Whether this OS user can have a closed network, by starting an empty one. */
export async function probeClosing(
  env: NodeJS.ProcessEnv,
): Promise<Exclude<Isolation, { confined: Confined }> | { readonly kind: "closed" }> {
  const program = { file: "true", args: [] };
  const found = await isolate({ network: "closed", mustIsolate: false, program }, env, (one) =>
    startConfined(one, { env }),
  );
  if (!("confined" in found)) return found;
  found.confined.leave();
  return { kind: "closed" };
}

/** Gives why the network of a run of this OS user can't be closed, null if it can; asked until the kernel answers. */
export function createClosingProbe(env: NodeJS.ProcessEnv): () => Promise<string | null> {
  let tried: ReturnType<typeof probeClosing> | undefined;
  return async () => {
    const found = await (tried ??= probeClosing(env));
    if (found.kind === "unknown") tried = undefined;
    return found.kind === "unclosable" ? found.why : null;
  };
}

/** Why a run does not start. */
export interface Refusal {
  readonly reason: string;
  /** Whether the run may start later without changes. */
  readonly isPassing: boolean;
}

/** Why a run without isolation may not start. */
export function refusalOf({ kind, why }: Extract<Isolation, { readonly why: string }>): Refusal {
  switch (kind) {
    case "unclosable":
      return { reason: cannotClose(why), isPassing: false };
    case "lost":
      return { reason: cannotIsolateNow(`${why}, unlike for earlier runs`), isPassing: true };
    case "unknown":
      return { reason: cannotIsolateNow(why), isPassing: true };
  }
}

function cannotIsolateNow(why: string): string {
  return (
    `it can't be isolated from this machine's network and processes for now (${why}). It starts once this works. Check ` +
    `whether this OS user has used up its namespaces, processes or open files, or the machine its memory or time`
  );
}

/** From the best to the weakest; the first two need root. */
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

async function startClosed(
  program: Program,
  env: NodeJS.ProcessEnv,
  start: Start,
): Promise<Confined | Failure> {
  const tools = findNetworkTools(env);
  if (typeof tools === "string") return { why: tools, isPassing: false };
  return firstThatStarts(closedVariants(tools), program, (one) => start(one, true));
}

/**
 * The network is closed before its program's own user namespace begins, so that the program has no capability to open it
 * again. A process that sees others of its user in /proc could write to their memory, so a run without its own /proc does not count as closed.
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

/** A nested user namespace, in which the user's own id replaces that of its root. */
function asOneself(): readonly string[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  return ["--user", `--map-user=${uid}`, `--map-group=${gid}`];
}

/** `command` with all capabilities in its own user namespace, in which few more can be created. */
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

/** The program, started so that all its processes end with it. */
type Confine = (program: Program) => Program;

/** The first variant that starts. A temporary failure ends the search: later variants isolate less. */
async function firstThatStarts(
  variants: readonly Confine[],
  program: Program,
  start: (program: Program) => Promise<Confined | Failure>,
): Promise<Confined | Failure> {
  let failure: Failure = { why: "", isPassing: false };
  for (const confine of variants) {
    const started = await start(confine(program));
    if ("child" in started) return started;
    failure = started;
    if (failure.isPassing) break;
  }
  return failure;
}
