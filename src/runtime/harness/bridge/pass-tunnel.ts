import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { messageOf } from "../../../foundation/errors.ts";
import { carriesProxyKey, proxyChallenge, proxyKeyMissing } from "./proxy-key.ts";
import { isAway, repeatWhileAway } from "./while-away.ts";
import type { RunSocket } from "./while-away.ts";

/** The scheduler's answer to a CONNECT, and the connection that it came by. */
interface Answer {
  readonly response: IncomingMessage;
  readonly upstream: Socket;
  /** What came after the header already. */
  readonly head: Buffer;
}

export interface TunnelOptions {
  readonly key: string;
  readonly runSocket: RunSocket;
}

/**
 * Passes a program's CONNECT on to the scheduler, and the scheduler's answer back as it is: a tunnel, or why there is
 * none. Resolves when both are joined, or it was refused; never rejects.
 */
export async function passTunnel(
  asked: IncomingMessage,
  client: Socket,
  head: Buffer,
  { key, runSocket }: TunnelOptions,
): Promise<void> {
  const gone = new AbortController();
  client.on("error", () => client.destroy()).once("close", () => gone.abort());
  if (!carriesProxyKey(asked, key)) return refuse(client, 407, proxyKeyMissing, proxyChallenge);
  try {
    const answer = await repeatWhileAway(runSocket, gone.signal, () =>
      attempt(asked.url ?? "", runSocket, gone.signal),
    );
    if (answer === null) return;
    client.write(statusOf(answer.response), "latin1");
    client.write(answer.head);
    answer.upstream.write(head);
    join(client, answer.upstream);
  } catch (error) {
    refuse(client, 502, messageOf(error));
  }
}

/** Null while the scheduler starts or stops. */
async function attempt(
  target: string,
  { socket, token }: RunSocket,
  signal: AbortSignal,
): Promise<Answer | null> {
  const answer = await new Promise<Answer>((resolve, reject) => {
    const sent = request({
      method: "CONNECT",
      path: target,
      headers: { host: target, "proxy-authorization": `Bearer ${token}` },
      // One side of a tunnel may end before the other.
      createConnection: () => connect({ path: socket, allowHalfOpen: true }),
      signal,
    });
    sent.once("error", reject).once("connect", (response, upstream: Socket, head) => {
      resolve({ response, upstream, head });
    });
    // A scheduler that answers CONNECT as a request like others knows no tunnels.
    sent.once("response", (response) => {
      response.resume();
      reject(new Error(`the scheduler opens no tunnels (status ${response.statusCode ?? "none"})`));
    });
    sent.end();
  });
  // Node no longer listens on it.
  answer.upstream.on("error", () => answer.upstream.destroy());
  if (!isAway(answer.response)) return answer;
  answer.upstream.destroy();
  return null;
}

function statusOf({ statusCode = 502, statusMessage = "", rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1] ?? ""}`] : [],
  );
  return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, "", ""].join("\r\n");
}

/** Each side's end is the other's; a side that breaks off cuts the other. */
function join(client: Socket, upstream: Socket): void {
  client.pipe(upstream);
  upstream.pipe(client);
  for (const [side, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    side.once("close", () => {
      // What came before its end is still on its way to the other.
      if (side.readableEnded) other.destroySoon();
      else other.destroy();
    });
  }
  // One of them may have closed before.
  if (client.destroyed) upstream.destroy();
  if (upstream.destroyed) client.destroy();
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
