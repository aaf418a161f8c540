import { execFile } from "node:child_process";
import type { RunNetwork } from "../../../streams/run-network.ts";
import { cannotClose, closingShell, findNetworkTools } from "./closed-network.ts";
import type { NetworkTools } from "./closed-network.ts";
import type { Program } from "./supervisor-order.ts";

/** How the processes of a run are held together, and away from the network. */
export interface Isolation {
  /** The program, started so that all it starts ends with it. */
  readonly confine: (program: Program) => Program;
  /** Why there is no PID namespace; null when there is. */
  readonly unconfined: string | null;
  /** Whether it has a network of its own, with nothing but the loopback interface. */
  readonly isClosed: boolean;
  /** Why it has none although it should; null when it has one, or is to be open. */
  readonly notClosed: string | null;
}

const ownPids = ["--pid", "--fork", "--kill-child"];
const asOneself = ["--user", "--map-current-user"];
const ownNetwork = ["--net", "--mount"];

/** From the best to the least, as util-linux's unshare takes them; the first two need root. */
const openVariants: readonly (readonly string[])[] = [
  [...ownPids, "--mount-proc"],
  ownPids,
  [...asOneself, ...ownPids, "--mount-proc"],
  [...asOneself, ...ownPids],
];

/**
 * The first process of a namespace: it reaps what is orphaned, and with it ends all the rest. Its own words
 * (`Terminated`) are no output of the run.
 */
const init = 'exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-; exit $?';

type Confine = Isolation["confine"];
const isRoot = (): boolean => process.getuid?.() === 0;

/** Finds out what the kernel allows this user, for a run that has this of the network. */
export async function findIsolation(
  env: NodeJS.ProcessEnv,
  network: RunNetwork,
): Promise<Isolation> {
  if (network === "open") return { ...(await findOpen(env)), isClosed: false, notClosed: null };
  const tools = findNetworkTools(env);
  const found =
    typeof tools === "string" ? { why: tools } : await firstThatWorks(closedVariants(tools), env);
  if ("confine" in found) return { ...found, unconfined: null, isClosed: true, notClosed: null };
  // A run that must be closed does not start.
  if (network === "closed")
    return { confine: asItIs, unconfined: null, isClosed: false, notClosed: found.why };
  return { ...(await findOpen(env)), isClosed: false, notClosed: found.why };
}

/** Gives why the network of a run of this OS user can't be closed, null when it can; tried once. */
export function createClosingProbe(env: NodeJS.ProcessEnv): () => Promise<string | null> {
  let tried: Promise<Isolation> | undefined;
  return async () => (await (tried ??= findIsolation(env, "closed"))).notClosed;
}

/** Why no run with this network may start; null when it may. */
export function refusalOf({ isClosed, notClosed }: Isolation, network: RunNetwork): string | null {
  return network === "closed" && !isClosed ? cannotClose(notClosed ?? "unknown reason") : null;
}

async function findOpen(
  env: NodeJS.ProcessEnv,
): Promise<Pick<Isolation, "confine" | "unconfined">> {
  const variants = isRoot() ? openVariants : openVariants.slice(2);
  const confines = variants.map(
    (flags): Confine =>
      (program) =>
        startedBy(["unshare", ...flags, "--", ...asFirst(program)]),
  );
  const found = await firstThatWorks(confines, env);
  if ("confine" in found) return { ...found, unconfined: null };
  return { confine: asItIs, unconfined: found.why };
}

/**
 * The network is closed before its program's own user namespace begins, so that the program has no capability by which
 * it could open it again. A process that saw others of its user in /proc could write to their memory: without an own
 * /proc it is not closed.
 */
function closedVariants(tools: NetworkTools): readonly Confine[] {
  const { unshare } = tools;
  const ids = [`--map-user=${process.getuid?.() ?? 0}`, `--map-group=${process.getgid?.() ?? 0}`];
  const confineBy =
    (outer: readonly string[], inner: readonly string[]): Confine =>
    (program) => {
      const first = [unshare, ...inner, ...ownPids, "--mount-proc", "--", ...asFirst(program)];
      return startedBy([unshare, ...outer, ...ownNetwork, "--", ...closingShell(tools, first)]);
    };
  const asUser = confineBy(["--user", "--map-root-user"], ["--user", ...ids]);
  return isRoot() ? [confineBy([], []), asUser] : [asUser];
}

function asItIs(program: Program): Program {
  return program;
}

function asFirst({ file, args }: Program): readonly string[] {
  return ["/bin/sh", "-c", init, "al-run", file, ...args];
}

function startedBy([file = "", ...args]: readonly string[]): Program {
  return { file, args };
}

async function firstThatWorks(
  variants: readonly Confine[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly confine: Confine } | { readonly why: string }> {
  let why = "";
  for (const confine of variants) {
    const problem = await tryOut(confine({ file: "true", args: [] }), env);
    if (problem === null) return { confine };
    why = problem;
  }
  return { why };
}

function tryOut({ file, args }: Program, env: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(file, [...args], { env, timeout: 5000 }, (error, _out, stderr) => {
      if (error === null) return resolve(null);
      resolve(stderr.trim().split("\n").at(-1) || error.message.split("\n")[0] || "unshare failed");
    });
  });
}
