import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { openingPage } from "../dashboard/card-pages.ts";
import { sendPage } from "../dashboard/layout.ts";
import type { GatewayDeps } from "./deps.ts";
import { hostName, isLoopbackName } from "./known-hosts.ts";

/** Browsers that resolve names below `localhost` without DNS. Safari does not: there the cookie stays on localhost. */
const resolvesLocalhostNames = /(Chrome|Firefox)\/\d/;

/** True when a browser came by a name that it shares with every other server of its machine, and can leave it. */
export function shouldMove(request: FastifyRequest): boolean {
  const { host = "", origin = `http://${host}`, "user-agent": agent = "" } = request.headers;
  // A proxy that puts its own address into `Host` does not change the browser's `Origin`.
  const isDirect = request.protocol === "http" && origin === `http://${host}`;
  return isDirect && isLoopbackName(host) && resolvesLocalhostNames.test(agent);
}

/** True when the request names the host that only people with the key were shown. */
export function isOnPrivateHost(request: FastifyRequest, { sessions }: GatewayDeps): boolean {
  return hostName(request.headers.host ?? "") === sessions.privateHost;
}

/**
 * Sends a browser that proved itself on to `path` of the private host, by a page that makes its origin remember the name:
 * unlike a cookie, local storage belongs to one port.
 */
export function moveToPrivateHost(
  request: FastifyRequest,
  reply: FastifyReply,
  { sessions: { privateHost }, path }: Pick<GatewayDeps, "sessions"> & { readonly path: string },
): FastifyReply {
  const port = /:\d+$/.exec(request.headers.host ?? "")?.[0] ?? "";
  const url = `http://${privateHost}${port}${path}`;
  // For browsers without scripts.
  const page = openingPage(url, { host: privateHost, path, remember: rememberedAs(privateHost) });
  return sendPage(reply.header("refresh", `1; url=${url}`), page);
}

/** The name that a browser remembers the private host by; it shows nothing of it. */
export function rememberedAs(privateHost: string): string {
  return createHash("sha256").update(privateHost).digest("hex").slice(0, 16);
}
