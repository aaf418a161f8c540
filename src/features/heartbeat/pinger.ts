import { setTimeout as wait } from "node:timers/promises";
import type { SendRequest } from "../../foundation/contracts/outgoing-request.ts";
import { rateLimitedWarnings } from "../../foundation/contracts/rate-limited-warnings.ts";
import { withoutAddress } from "../../foundation/contracts/without-address.ts";
import { messageOf } from "../../foundation/errors.ts";
import { monitorAt } from "./monitors.ts";
import type { Ping } from "./monitors.ts";

export interface PingerDeps {
  readonly send: SendRequest;
  readonly warn: (message: string) => void;
  /** Epoch ms. */
  readonly now: () => number;
  /** After how many ms the end of a run is sent again, one number an attempt. */
  readonly retryMs?: readonly number[];
}

/** Whose heartbeat it is, as its warnings name it, and the monitor's address. */
export interface Heartbeat {
  readonly owner: string;
  readonly url: string;
}

export interface Pinger {
  /** Sends it, once what is on its way to the same address is answered. Never throws. */
  readonly ping: (heartbeat: Heartbeat, ping: Ping) => void;
  /** Resolves once nothing is on its way and nothing waits. */
  readonly idle: () => Promise<void>;
}

type Waiting = Map<Ping["type"], Ping>;

/** A monitor that takes nothing for days is a warning an hour. */
const warnEveryMs = 3_600_000;

/** Pings monitors, one ping at a time to each address; while it is on its way, the latest of each type waits. */
export function createPinger(deps: PingerDeps): Pinger {
  const { retryMs = [10_000, 60_000] } = deps;
  const warn = rateLimitedWarnings(deps.warn, deps.now, warnEveryMs);
  const busy = new Map<string, { readonly waiting: Waiting; readonly done: Promise<void> }>();

  const work = async (heartbeat: Heartbeat, waiting: Waiting): Promise<void> => {
    for (let ping = first(waiting); ping !== undefined; ping = first(waiting)) {
      waiting.delete(ping.type);
      await delivered(heartbeat, ping, () => !waiting.has(ping.type));
    }
    busy.delete(heartbeat.url);
  };

  const delivered = async (
    heartbeat: Heartbeat,
    ping: Ping,
    isLatest: () => boolean,
  ): Promise<void> => {
    const delays = isEnd(ping) ? retryMs : [];
    for (let attempt = 0; !(await sent(heartbeat, ping)); attempt += 1) {
      const delay = delays[attempt];
      if (delay === undefined) return;
      await wait(delay);
      if (!isLatest()) return;
    }
  };

  /** False when the monitor did not take it. */
  const sent = async ({ owner, url }: Heartbeat, ping: Ping): Promise<boolean> => {
    const problem = await problemOf(deps.send, url, ping);
    if (problem !== null) warn(url, `the heartbeat of ${owner} was not taken: ${problem}`);
    return problem === null;
  };

  return {
    ping: (heartbeat, ping) => {
      const waiting = busy.get(heartbeat.url)?.waiting ?? new Map<Ping["type"], Ping>();
      // Behind the others: the last that a monitor takes decides its state.
      waiting.delete(ping.type);
      waiting.set(ping.type, ping);
      if (busy.has(heartbeat.url)) return;
      const done = Promise.resolve().then(() => work(heartbeat, waiting));
      busy.set(heartbeat.url, { waiting, done });
    },
    idle: async () => {
      await Promise.all([...busy.values()].map(({ done }) => done));
    },
  };
}

function first(waiting: ReadonlyMap<Ping["type"], Ping>): Ping | undefined {
  const [ping] = waiting.values();
  return ping;
}

/** The scheduler is well again a minute later; the end of a run comes once. */
function isEnd({ type }: Ping): boolean {
  return type === "succeeded" || type === "failed";
}

async function problemOf(send: SendRequest, url: string, ping: Ping): Promise<string | null> {
  try {
    const address = new URL(url);
    const monitor = monitorAt(address);
    const request = monitor.request(address, ping);
    if (request === null) return null;
    const { status, text } = await send(request);
    // Not what it answers: that may quote the address.
    if (status < 200 || status >= 300) return `${address.host} answers with status ${status}`;
    const refusal = monitor.refusal(text);
    if (refusal === null) return null;
    return `${address.host} answers ${JSON.stringify(withoutAddress(refusal, address))}`;
  } catch (error) {
    return `${hostOf(url)}: ${messageOf(error)}`;
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "its address is not a URL";
}
