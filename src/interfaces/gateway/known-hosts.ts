import type { FastifyRequest } from "fastify";
import { HttpProblem } from "./problem.ts";

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** True when a `Host` header names this machine by a name that all its servers share. */
export function isLoopbackName(host: string): boolean {
  return loopbackNames.includes(hostName(host));
}

/**
 * The hook that answers only to known names. A page of another site that points its own name at this machine (DNS
 * rebinding) is same-origin to the browser, but the name in `Host` gives it away. Any port will do: it may be mapped.
 */
export function checkHost(names: readonly string[]): (request: FastifyRequest) => Promise<void> {
  const known = new Set([...loopbackNames, ...names.map((name) => hostName(bracketed(name)))]);
  return (request) => {
    // Two of them are for two readers; Node itself takes the first and keeps quiet (RFC 9112, section 3.2).
    if (hostLines(request) > 1) {
      return Promise.reject(new HttpProblem(400, "malformed", "The request has two Host headers."));
    }
    // The raw header: a rebound page can set X-Forwarded-Host itself.
    if (known.has(hostName(request.headers.host ?? ""))) return Promise.resolve();
    return Promise.reject(
      new HttpProblem(
        403,
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
export function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}

/** An IPv6 address as a URL and a `Host` header write it. */
export function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") && !/^[^:]+:\d+$/.test(host)
    ? `[${host}]`
    : host;
}
