import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { messageOf } from "../../../foundation/errors.ts";
import { hangUpOf } from "../../wire/http-proxy.ts";
import { endTogether } from "../../wire/join-sockets.ts";
import { isSameSecret } from "../../../foundation/contracts/request-limit.ts";
import { connectionTo, type RunSocket } from "./while-away.ts";
import type { RunClock } from "../run-clock.ts";

/**
 * Passes a program's CONNECT to the scheduler, with the run's token in place of the key, and joins both connections:
 * the scheduler's answer reaches the program unchanged, a tunnel or a refusal. Waits while the scheduler is down. Never
 * rejects.
 */
export async function passTunnel(
  { headers, url: target = "" }: IncomingMessage,
  client: Socket,
  head: Buffer,
  { key, runSocket, pausedFor }: TunnelThrough,
): Promise<void> {
  const gone = new AbortController();
  client.on("error", () => client.destroy()).once("close", () => gone.abort());
  if (!carriesProxyKey({ headers }, key))
    return refuse(client, 407, proxyKeyMissing, proxyChallenge);
  try {
    const upstream = await connectionTo(runSocket, gone.signal);
    if (upstream === null) return;
    const login = `Proxy-Authorization: Bearer ${runSocket.token}`;
    upstream.write([`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, login, "", ""].join("\r\n"));
    if (head.length > 0) client.unshift(head);
    await pausedFor(() => join(client, upstream));
  } catch (error) {
    refuse(client, 502, messageOf(error));
  }
}

interface TunnelThrough {
  readonly pausedFor: RunClock["pausedFor"];
  readonly key: string;
  readonly runSocket: RunSocket;
}

/**
 * Joins both sides: the end of one ends the other, and a broken side destroys the other. Resolves at the answer, or at the
 * end of a side that came first.
 */
async function join(client: Socket, upstream: Socket): Promise<void> {
  const answered = new Promise<void>((resolve) => {
    upstream.once("data", () => resolve()).once("close", () => resolve());
  });
  const hangUp = hangUpOf(client);
  hangUp.signal.addEventListener("abort", () => upstream.destroy());
  upstream.pipe(client);
  // Piped only after the answer: a write to a refused connection fails, and the refusal would be lost.
  upstream.once("data", () => {
    hangUp.stop();
    client.pipe(upstream);
  });
  endTogether(client, upstream);
  if (!upstream.closed) await answered;
}

function refuse(
  client: Socket,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = Buffer.from(`${text}\n`);
  const own = { "content-type": "text/plain", connection: "close", "content-length": body.length };
  const lines = Object.entries({ ...own, ...headers }).map(([name, value]) => `${name}: ${value}`);
  // Most programs show the first line alone.
  client.write([`HTTP/1.1 ${status} ${text}`, ...lines, "", ""].join("\r\n"));
  client.end(body);
}

/** Requests the key, which is in the URL of the program's proxy. */
export const proxyChallenge = { "proxy-authenticate": 'Basic realm="al"' } as const;
export const proxyKeyMissing =
  "the key is not the one for this run's proxy: the address in HTTPS_PROXY contains it";

/** Whether a program sent the key as its proxy password. */
export function carriesProxyKey(
  { headers }: { readonly headers: IncomingHttpHeaders },
  key: string,
): boolean {
  const [, login] = /^Basic ([\w+/=]{1,500})$/i.exec(headers["proxy-authorization"] ?? "") ?? [];
  const [, password] =
    /^[^:]*:(.*)$/s.exec(Buffer.from(login ?? "", "base64").toString("utf8")) ?? [];
  return password !== undefined && isSameSecret(password, key);
}
