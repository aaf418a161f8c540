import type { FastifyRequest } from "fastify";

/** Where the request comes from, by the headers of the browser; null without such headers. */
function originVerdict(request: FastifyRequest): "same" | "foreign" | null {
  const site = request.headers["sec-fetch-site"];
  // `none` is the person: an address typed, a bookmark.
  if (typeof site === "string") {
    return site === "same-origin" || site === "none" ? "same" : "foreign";
  }
  const origin = request.headers.origin;
  if (origin === undefined) return null;
  const isOwn = URL.canParse(origin) && ownHosts(request).includes(new URL(origin).host);
  return isOwn ? "same" : "foreign";
}

/** A trusted proxy may have put its own name into `Host` and the public one beside it. */
function ownHosts(request: FastifyRequest): readonly string[] {
  return [request.headers.host ?? "", request.host].map((host) => withoutDefaultPort(host));
}

function withoutDefaultPort(host: string): string {
  return host.toLowerCase().replace(/:(80|443)$/, "");
}

/** True when the headers name this gateway as the origin; not without such headers. */
export function isSameOrigin(request: FastifyRequest): boolean {
  return originVerdict(request) === "same";
}

/** True when the headers name another site as the origin. */
export function isForeign(request: FastifyRequest): boolean {
  return originVerdict(request) === "foreign";
}
