import { request } from "node:http";
import { isIP } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { proxyLogin } from "../../../foundation/contracts/http-proxy.ts";
import { bracketed } from "../../../foundation/contracts/host-and-port.ts";
import type { Authority } from "./authority.ts";
import { connected, dialDirect, inTime } from "./dial.ts";

/** Connects to a proxy of the operator's. */
export function dialProxy(proxy: URL, signal: AbortSignal): Promise<Socket> {
  const host = proxy.hostname.replace(/^\[|\]$/g, "");
  const isTls = proxy.protocol === "https:";
  const port = Number(proxy.port === "" ? (isTls ? 443 : 80) : proxy.port);
  const plain = dialDirect(host, port);
  if (!isTls) return connected(plain, "connect", signal);
  plain.on("error", (error) => secure.destroy(error));
  const secure = connectTls({ socket: plain, host, servername: isIP(host) === 0 ? host : "" });
  return connected(secure, "secureConnect", signal);
}

/** A tunnel by a proxy, which resolves the name. */
export async function dialThrough(
  proxy: URL,
  { host, port }: Authority,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await dialProxy(proxy, signal);
  const path = `${bracketed(host)}:${port}`;
  const login = proxyLogin(proxy);
  const headers = login === null ? { host: path } : { host: path, "proxy-authorization": login };
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const asked = request({ method: "CONNECT", path, headers, createConnection: () => socket });
  asked.once("connect", ({ statusCode = 0 }, _socket, head: Buffer) => {
    if (statusCode < 200 || statusCode > 299) {
      return reject(new Error(`the scheduler's own proxy answered ${statusCode}`));
    }
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  asked.on("error", reject);
  asked.end();
  return inTime(promise, socket, signal);
}
