import { request, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Readable, Writable } from "node:stream";
import { bracketed } from "../../../foundation/contracts/deny-reasons.ts";
import { proxyLogin } from "../../wire/http-proxy.ts";
import { messageOf } from "../../../foundation/errors.ts";

export interface PipeDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly err: (text: string) => void;
}

const usage = "usage: al-connect <host> <port>\n";

/**
 * `al-connect <host> <port>`: joins standard input and output to a connection, for programs without HTTP proxy support,
 * such as ssh (ProxyCommand). Connects through the proxy of HTTPS_PROXY (the bridge, if the run's network is closed),
 * else directly. Exit codes: 0 the other side ended the connection, 1 it failed, 2 wrong arguments.
 */
export async function connectCommand(
  [host = "", port = "", ...more]: readonly string[],
  { env, stdin, stdout, err }: PipeDeps,
): Promise<number> {
  if (host === "" || !/^[0-9]{1,5}$/.test(port) || more.length > 0) {
    err(usage);
    return 2;
  }
  try {
    const proxy = env.HTTPS_PROXY ?? "";
    const socket =
      proxy === "" ? await direct(host, Number(port)) : await through(proxy, host, port);
    await join(socket, stdin, stdout);
    return 0;
  } catch (error) {
    err(`al-connect: ${messageOf(error).trim()}\n`);
    return 1;
  }
}

async function direct(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port });
  await once(socket, "connect");
  return socket;
}

/** Rejects with the text of a refusal. */
async function through(proxy: string, host: string, port: string): Promise<Socket> {
  const address = new URL(proxy);
  const login = proxyLogin(address);
  const target = `${bracketed(host)}:${port}`;
  const sent = request({
    host: address.hostname,
    port: address.port,
    method: "CONNECT",
    path: target,
    headers: { host: target, ...(login !== null && { "proxy-authorization": login }) },
  });
  const connected = once(sent, "connect") as Promise<[IncomingMessage, Socket, Buffer]>;
  sent.end();
  const [{ statusCode, statusMessage = "" }, socket, head] = await connected;
  socket.unshift(head);
  if (statusCode === 200) return socket;
  const why = await text(socket).catch(() => "");
  throw new Error(why === "" ? statusMessage : why);
}

/** Resolves when the other side has ended. */
async function join(socket: Socket, stdin: Readable, stdout: Writable): Promise<void> {
  const ended = new Promise<void>((resolve, reject) => {
    socket.once("end", resolve).once("error", reject);
    // The reader of standard output is gone.
    stdout.once("error", reject);
  });
  stdin.on("error", () => socket.end()).pipe(socket);
  socket.pipe(stdout, { end: false });
  try {
    await ended;
  } finally {
    socket.destroy();
    stdin.destroy();
  }
}
