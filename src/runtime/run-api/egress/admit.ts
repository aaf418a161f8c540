import { isIP, type OnReadOpts, type Socket } from "node:net";
import { isFor, type EgressPolicy } from "../../../foundation/contracts/network-allow.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { addressProblem } from "./addresses.ts";
import { assertAllowed, EgressRefusal, type Permission, type Authority } from "./decide.ts";
import { dialFirst, dialProxy, dialThrough, type Dial } from "./dial.ts";
import type { Resolve } from "./resolve.ts";

export interface AdmitDeps {
  /** Null if the run may reach the host, else why its gates deny it; waits for a person. Rejects with `run.signal`. */
  readonly approve: (asked: Authority, run: AskingRun) => Promise<string | null>;
  readonly resolve: Resolve;
  readonly dial: Dial;
  /** `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in upper or lower case. */
  readonly proxyEnv: NodeJS.ProcessEnv;
  /** The addresses of this machine's interfaces. */
  readonly ownAddresses: () => ReadonlySet<string>;
}

/** The requesting run; `signal` aborts at its end, and when its connection ends. */
export interface AskingRun {
  readonly instanceId: string;
  readonly signal: AbortSignal;
}

/** The way to a host that a run may reach. Its functions reject with an `EgressRefusal`. */
export interface Way {
  /** Connects to one of the host's checked addresses; `onread` applies only to connections without a proxy. */
  readonly dial: (signal: AbortSignal, onread?: OnReadOpts) => Promise<Socket>;
  /** The scheduler's own proxy for plain HTTP, which expects absolute URLs; null to dial the host. */
  readonly httpProxy: { readonly url: URL; dial(signal: AbortSignal): Promise<Socket> } | null;
}

/**
 * Checks a host against the allow list and its current addresses. The name is resolved only once: a second lookup could
 * return an unchecked address. Rejects with an `EgressRefusal`.
 */
export async function admit(
  policy: EgressPolicy,
  asked: Authority,
  scheme: "http" | "https",
  run: AskingRun,
  deps: AdmitDeps,
): Promise<Way> {
  assertEntryHelps(policy, asked, deps);
  const permission = assertAllowed(policy, asked);
  // Before the name is looked up: a name can carry data.
  await assertApproved(asked, run, deps);
  const proxy = ownProxy(deps.proxyEnv, scheme, asked);
  const check = (addresses: readonly string[]) =>
    checkedAddresses(addresses, asked, { ...permission, ownPort: policy.ownPort }, deps);
  if (proxy === null) {
    const addresses = check(await resolved(asked, run, deps.resolve));
    return {
      dial: (signal, onread) =>
        reached(asked, dialFirst(addresses, asked.port, deps.dial, signal, onread)),
      httpProxy: null,
    };
  }
  // The proxy resolves names; only IP literals can be checked here.
  if (isIP(asked.host) !== 0) check([asked.host]);
  return {
    dial: (signal) => reached(asked, dialThrough(proxy, asked, signal)),
    httpProxy: { url: proxy, dial: (signal) => reached(asked, dialProxy(proxy, signal)) },
  };
}

/** Refuses an unlisted IP literal with the address's problem if a plain allow entry would not open it. */
function assertEntryHelps(
  { allow, ownPort }: EgressPolicy,
  asked: Authority,
  deps: AdmitDeps,
): void {
  const isListed = allow.some((entry) => isFor(entry, asked.host, asked.port));
  if (isIP(asked.host) === 0 || isListed) return;
  checkedAddresses([asked.host], asked, { isPrivate: false, ownPort }, deps);
}

/** Rejects with an `EgressRefusal` if the gates deny the host. */
async function assertApproved(asked: Authority, run: AskingRun, deps: AdmitDeps): Promise<void> {
  const why = await deps.approve(asked, run).catch((error: unknown) => {
    if (run.signal.aborted) return "the connection ended before a person answered";
    throw error;
  });
  if (why !== null) throw new EgressRefusal("not_approved", asked, why);
}

async function resolved(
  asked: Authority,
  { instanceId, signal }: AskingRun,
  resolve: Resolve,
): Promise<readonly string[]> {
  const addresses = await resolve(asked.host, instanceId, signal).catch((error: unknown) => {
    throw new EgressRefusal("unresolved", asked, messageOf(error));
  });
  const real = addresses.filter((address) => isIP(address) !== 0);
  if (real.length === 0) throw new EgressRefusal("unresolved", asked);
  return real;
}

/** The addresses that may be dialled. Throws an `EgressRefusal` if no address may. */
function checkedAddresses(
  addresses: readonly string[],
  asked: Authority,
  { isPrivate, ownPort }: Permission & { readonly ownPort: number | null },
  { ownAddresses }: AdmitDeps,
): readonly string[] {
  const rules = { isPrivate, port: asked.port, ownPort, own: ownAddresses() };
  const problems = addresses.map((address) => addressProblem(address, rules));
  const kept = addresses.filter((_address, index) => problems[index] === null);
  if (kept.length > 0) return kept;
  const reason = problems.includes("private_address") ? "private_address" : "refused_address";
  throw new EgressRefusal(reason, asked, addresses.join(", "));
}

function reached(asked: Authority, dialling: Promise<Socket>): Promise<Socket> {
  return dialling.catch((error: unknown) => {
    throw new EgressRefusal("unreachable", asked, messageOf(error));
  });
}

/**
 * The proxy that the environment names for requests of `scheme` to a host; null without one. Reads variables as Node
 * does: lower case first, and an entry of NO_PROXY is a host, `host:port`, `.suffix`, `*.suffix` or `*`.
 */
export function ownProxy(
  env: NodeJS.ProcessEnv,
  scheme: "http" | "https",
  { host, port }: { readonly host: string; readonly port: number },
): URL | null {
  const name = `${scheme}_proxy`;
  const url = URL.parse(env[name] ?? env[name.toUpperCase()] ?? "");
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  const entries = (env.no_proxy ?? env.NO_PROXY ?? "").toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => isExcepted(entry, host, port)) ? null : url;
}

function isExcepted(entry: string, host: string, port: number): boolean {
  if (entry === "*" || entry === host || entry === `[${host}]`) return entry !== "";
  const colon = entry.lastIndexOf(":");
  if (isIP(entry) === 0 && colon > 0) {
    return entry.slice(colon + 1) === String(port) && isExcepted(entry.slice(0, colon), host, port);
  }
  const suffix = entry.replace(/^\*/, "");
  return suffix.startsWith(".") && host.endsWith(suffix);
}
