import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { EgressRefusal } from "./decide.ts";

/** A response in place of a tunnel or a forwarded request, such as an `EgressRefusal`; programs print the phrase. */
export interface EgressAnswer {
  readonly status: number;
  readonly phrase: string;
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const notAuthenticated: EgressAnswer = {
  status: 407,
  phrase: "Proxy Authentication Required",
  detail: "The token does not belong to the run of this socket, or the run has ended.",
  headers: { "proxy-authenticate": "Bearer" },
};

/** The same for a call to a model. */
export const unauthorized: EgressAnswer = {
  ...notAuthenticated,
  status: 401,
  phrase: "Unauthorized",
  headers: { "www-authenticate": "Bearer" },
};

/** Clients retry a 503. */
export const notReady: EgressAnswer = {
  status: 503,
  phrase: "The scheduler is stopping",
  detail: "The scheduler is stopping.",
};

export const failed: EgressAnswer = {
  status: 500,
  phrase: "The scheduler failed to do this",
  detail: "The scheduler failed to do this; its log has the reason.",
};

/** Answers a CONNECT, and ends the connection. */
export function refuseTunnel(socket: Socket, answer: EgressAnswer): void {
  const { status, phrase, detail, headers = {} } = answer;
  const body = `${detail}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${phrase}`,
    "content-type: text/plain; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.on("error", () => socket.destroy());
  socket.resume();
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  socket.destroySoon();
}

/** Answers a forwarded request, and ends the connection: its body is not read. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { status, phrase, detail, headers }: Omit<EgressAnswer, "phrase"> & { readonly phrase?: string },
): void {
  const plain = { "content-type": "text/plain; charset=utf-8", connection: "close" };
  response.writeHead(status, phrase, { ...headers, ...plain }).end(`${detail}\n`);
  request.resume();
}

/** The TLS alert `unrecognized_name` (RFC 8446 6.2), so that the client can report the reason. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/** Ends an accepted tunnel after a refusal, or after an error of the scheduler itself (null). */
export function cutTunnel(socket: Socket, refusal: EgressRefusal | null): void {
  if (refusal?.code === "server_name") socket.write(unrecognizedName);
  socket.resume();
  socket.destroySoon();
}
