import { setTimeout as wait } from "node:timers/promises";
import { outcomeRows } from "../../../streams/outcomes.ts";
import { runErrorOf } from "../../../streams/status/agent-record.ts";
import { isRetried, type RunEvent } from "../../../streams/vocabulary.ts";
import { withoutAddress } from "../../foundation/contracts/outgoing-request.ts";
import type { OutgoingRequest, SendRequest } from "../../foundation/contracts/outgoing-request.ts";
import { plainText } from "../../foundation/contracts/plain-text.ts";
import { rateLimitedWarnings } from "../../foundation/contracts/rate-limited-warnings.ts";
import { messageOf } from "../../foundation/errors.ts";

/** A healthy scheduler is `well`; the others are those of a run. `ms` is the lag of the event loop, or the duration. */
export interface Ping {
  readonly type: "well" | "started" | "succeeded" | "failed";
  readonly ms: number;
  /** Why the run failed. */
  readonly reason?: string;
}

/** In characters. */
const maxReason = 300;

/**
 * The ping to the monitor of an agent at an event of its runs; null for none. A run that a person ended was neither a
 * success nor a failure, and a run whose work is tried again is not over.
 */
export function pingOf(event: RunEvent): Ping | null {
  if (event.type === "started") {
    return event.startedAt === undefined ? { type: "started", ms: 0 } : null;
  }
  if (event.type !== "finished") return null;
  const { end, item, instanceId, at, startedAt } = event;
  if (outcomeRows[end.outcome].kind === "ended" || isRetried(item, end)) return null;
  const ms = at - startedAt;
  const error = runErrorOf(end);
  if (error === null) return { type: "succeeded", ms };
  return { type: "failed", ms, reason: `${instanceId} ${error}`.slice(0, maxReason) };
}

export interface PingerDeps {
  readonly send: SendRequest;
  readonly warn: (message: string) => void;
  /** Epoch ms. */
  readonly now: () => number;
  /** Waits before the end of a run is sent again, in ms. */
  readonly retryMs?: readonly number[];
}

/** A monitor that rejects pings causes one warning an hour. */
const warnEveryMs = 3_600_000;

/** Pings monitors, one ping at a time to each address; meanwhile the latest of each type waits. */
export function createPinger({ send, now, retryMs = [10_000, 60_000], ...deps }: PingerDeps) {
  const warn = rateLimitedWarnings(deps.warn, now, warnEveryMs);
  const waitingAt = new Map<string, Map<Ping["type"], Ping>>();
  const busy = new Set<Promise<void>>();

  const sendAll = async (owner: string, url: string, waiting: Map<Ping["type"], Ping>) => {
    for (let [ping] = waiting.values(); ping !== undefined; [ping] = waiting.values()) {
      const { type } = ping;
      waiting.delete(type);
      // Only ends of runs are repeated: a healthy scheduler pings again a minute later.
      const delays = type === "succeeded" || type === "failed" ? [...retryMs] : [];
      while (!(await isTaken(owner, url, ping))) {
        const delay = delays.shift();
        if (delay === undefined) break;
        await wait(delay);
        if (waiting.has(type)) break;
      }
    }
    waitingAt.delete(url);
  };
  const isTaken = async (owner: string, url: string, ping: Ping): Promise<boolean> => {
    const problem = await problemOf(send, url, ping);
    if (problem !== null) warn(url, `the heartbeat of ${owner} was not accepted: ${problem}`);
    return problem === null;
  };

  return {
    /** Sends a ping for `owner`, as warnings name it, after the one on its way to the same address. Never throws. */
    ping: (owner: string, url: string, ping: Ping): void => {
      const known = waitingAt.get(url);
      const waiting = known ?? new Map<Ping["type"], Ping>();
      // The end of the queue: the last ping that a monitor receives decides its state.
      waiting.delete(ping.type);
      waiting.set(ping.type, ping);
      if (known !== undefined) return;
      waitingAt.set(url, waiting);
      const done = Promise.resolve().then(() => sendAll(owner, url, waiting));
      busy.add(done);
      void done.then(() => busy.delete(done));
    },
    /** Resolves when all pings are sent. */
    idle: async (): Promise<void> => {
      await Promise.all(busy);
    },
  };
}

/** Null if the monitor took the ping. */
async function problemOf(send: SendRequest, url: string, ping: Ping): Promise<string | null> {
  try {
    const address = new URL(url);
    const isKuma = /\/api\/push\/[^/]+\/?$/.test(address.pathname);
    const request = isKuma ? toUptimeKuma(address, ping) : toHealthchecks(address, ping);
    if (request === null) return null;
    const { status, text } = await send(request);
    // The text of the answer is left out, because it may quote the address.
    if (status < 200 || status >= 300) return `${address.host} answers with status ${status}`;
    const refusal = plainText((isKuma ? kumaRefusal : healthchecksRefusal).exec(text)?.[1] ?? "");
    if (refusal === "") return null;
    return `${address.host} answers ${JSON.stringify(withoutAddress(refusal, address))}`;
  } catch (error) {
    const host = URL.canParse(url) ? new URL(url).host : "its address is not a URL";
    return `${host}: ${messageOf(error)}`;
  }
}

/** Both services reject some pings, such as those of an unknown check, with status 200. */
const healthchecksRefusal = /^\s*OK \((.{1,100})\)\s*$/;
const kumaRefusal = /^\s*\{(?=.*"ok":\s*false).*"msg":\s*"([^"]{1,300})"/s;

/**
 * Healthchecks.io and its kin (https://healthchecks.io/docs/http_api/). Without a run id: a success with an id leaves a
 * start with another id open, and runs of one agent may overlap.
 */
function toHealthchecks(address: URL, { type, reason = "" }: Ping): OutgoingRequest {
  const url = new URL(address);
  const base = url.pathname.replace(/\/$/, "");
  if (type === "started") url.pathname = `${base}/start`;
  if (type !== "failed") return { method: "GET", url, headers: {}, body: null };
  url.pathname = `${base}/fail`;
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return { method: "POST", url, headers, body: reason };
}

/** A push monitor of Uptime Kuma, whose address ends with `/api/push/<token>`. It has no ping for a start. */
function toUptimeKuma(address: URL, { type, ms, reason = "OK" }: Ping): OutgoingRequest | null {
  if (type === "started") return null;
  const url = new URL(address);
  // Kuma shows its addresses with `?status=up&msg=OK&ping=` already.
  url.searchParams.set("status", type === "failed" ? "down" : "up");
  url.searchParams.set("msg", reason);
  url.searchParams.set("ping", String(Math.round(ms)));
  return { method: "GET", url, headers: {}, body: null };
}
