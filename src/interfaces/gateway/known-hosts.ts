import { loopbackNames } from "../../foundation/contracts/loopback.ts";
import { Problem } from "../../foundation/errors.ts";
import type { FastifyRequest, FastifyReply } from "fastify";
import { createHash } from "node:crypto";
import { openingPage } from "../dashboard/card-pages.tsx";
import { sendPage } from "../dashboard/send-page.tsx";
import { publicPath } from "../dashboard/text/base-path.ts";
import type { GatewayDeps } from "./deps.ts";

/**
 * The hook that only accepts known names. A page of another site that points its own name at this machine (DNS
 * rebinding) is same-origin to the browser, but the name in `Host` reveals it. Any port is accepted: it may be mapped.
 */
export function checkHost(names: readonly string[]): (request: FastifyRequest) => Promise<void> {
  const known = new Set([...loopbackNames, ...names.map((name) => hostName(bracketed(name)))]);
  return (request) => {
    // Two of them are meant for two parsers; Node itself silently takes the first (RFC 9112, section 3.2).
    if (hostLines(request) > 1) {
      return Promise.reject(new Problem("malformed", "The request has two Host headers."));
    }
    // The raw header: a rebound page can set X-Forwarded-Host itself.
    if (known.has(hostName(request.headers.host ?? ""))) return Promise.resolve();
    return Promise.reject(
      new Problem(
        "unknown_host",
        "This host name is not one of the gateway's; add it to [gateway].allowedHosts.",
      ),
    );
  };
}

/** `rawHeaders` is name, value, name, value … */
function hostLines({ raw }: FastifyRequest): number {
  return raw.rawHeaders.filter((text, at) => at % 2 === 0 && /^host$/i.test(text)).length;
}

/** The name in a `Host` header, without port. */
function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}

/** An IPv6 address as a URL and a `Host` header write it. */
export function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") && !/^[^:]+:\d+$/.test(host)
    ? `[${host}]`
    : host;
}

/** The origin of the request, by the browser's headers; null without such headers. */
function originVerdict(request: FastifyRequest): "same" | "foreign" | null {
  const site = request.headers["sec-fetch-site"];
  // `none` is the person: a typed address, a bookmark.
  if (typeof site === "string") {
    return site === "same-origin" || site === "none" ? "same" : "foreign";
  }
  const origin = request.headers.origin;
  if (origin === undefined) return null;
  const isOwn = URL.canParse(origin) && ownHosts(request).includes(new URL(origin).host);
  return isOwn ? "same" : "foreign";
}

/** A trusted proxy may put its own name into `Host` and the public one beside it. */
function ownHosts(request: FastifyRequest): readonly string[] {
  return [request.headers.host ?? "", request.host].map((host) => withoutDefaultPort(host));
}

function withoutDefaultPort(host: string): string {
  return host.toLowerCase().replace(/:(80|443)$/, "");
}

/** True if the headers name this gateway as the origin; false without such headers. */
export function isSameOrigin(request: FastifyRequest): boolean {
  return originVerdict(request) === "same";
}

/** True when the headers name another site as the origin. */
export function isForeign(request: FastifyRequest): boolean {
  return originVerdict(request) === "foreign";
}

/** Browsers that resolve names below `localhost` without DNS. Safari does not: there the cookie stays on localhost. */
const resolvesLocalhostNames = /(Chrome|Firefox)\/\d/;

/** True for a browser at a name shared with every other server of its machine, which it can leave. */
export function shouldMove(request: FastifyRequest): boolean {
  const { host = "", origin = `http://${host}`, "user-agent": agent = "" } = request.headers;
  // A proxy that puts its own address into `Host` does not change the browser's `Origin`.
  const isDirect = request.protocol === "http" && origin === `http://${host}`;
  return isDirect && loopbackNames.includes(hostName(host)) && resolvesLocalhostNames.test(agent);
}

/** True if the request names the host that only people with the key were shown. */
export function isOnPrivateHost(request: FastifyRequest, { sessions }: GatewayDeps): boolean {
  return hostName(request.headers.host ?? "") === sessions.privateHost;
}

/**
 * Sends an authenticated browser to `path` of the private host, by a page that makes its origin remember the name:
 * unlike a cookie, local storage belongs to one port.
 */
export function moveToPrivateHost(
  request: FastifyRequest,
  reply: FastifyReply,
  { sessions: { privateHost }, path: local }: GatewayDeps & { path: string },
): Promise<FastifyReply> {
  const path = publicPath(local);
  const port = /:\d+$/.exec(request.headers.host ?? "")?.[0] ?? "";
  const url = `http://${privateHost}${port}${path}`;
  // For browsers without scripts.
  const page = openingPage(url, { host: privateHost, path, remember: rememberedAs(privateHost) });
  return sendPage(reply.header("refresh", `1; url=${url}`), page);
}

/** The name by which a browser remembers the private host; it reveals nothing about it. */
export function rememberedAs(privateHost: string): string {
  return createHash("sha256").update(privateHost).digest("hex").slice(0, 16);
}
