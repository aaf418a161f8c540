import type { ApiToken } from "../../foundation/contracts/scopes.ts";
import type { Person } from "../../foundation/contracts/questions.ts";
import { Problem } from "../../foundation/errors.ts";
import { isSameSecret } from "../../foundation/contracts/request-limit.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { defer, filter, merge, NEVER, of, type Observable } from "rxjs";
import type { GatewayDeps } from "./deps.ts";
import type { CheckKey } from "./key-guesses.ts";
import type { StreamName } from "./metrics.ts";
import { isForeign, isSameOrigin } from "./known-hosts.ts";

/** Name of the browser's session cookie. */
export const sessionCookie = "al_session";
/** Every cookie of that name with a possible token. */
const sessionPattern = /al_session=(?<=(?:^|;\s*)al_session=)([\w-]{43})(?=\s*(?:;|$))/g;

/** The caller of a request: a program with the API key or an API token, or a browser session by its id. */
export type Caller =
  | { readonly kind: "key" }
  | { readonly kind: "token"; readonly token: ApiToken }
  | { readonly kind: "session"; readonly sessionId: string };

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `authenticate`; null on routes without it. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /** The event stream that the route answers with. */
    stream?: StreamName;
    /** Pages request it by themselves, without a person: it does not prolong a session. */
    isBackground?: boolean;
  }
}

/** The hook of every operator route: key, token or session, else a 401, or the login page for a browser. */
export function authenticate(
  deps: GatewayDeps,
  checkKey: CheckKey,
  hasLoginPage: boolean,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    request.caller = await identify(request, deps, checkKey);
    if (request.caller?.kind === "session") return checkOrigin(request);
    if (request.caller !== null) return;
    if (!hasLoginPage || !isPageVisit(request)) throw unauthorized();
    // `return reply` keeps the route's own handler from running.
    return reply.redirect(`/login?next=${encodeURIComponent(request.url)}`, 302);
  };
}

/** The hook of routes for programs: key or token, and no session. */
export function authenticateKey(
  deps: GatewayDeps,
  checkKey: CheckKey,
): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    request.caller = await identify(request, deps, checkKey);
    if (request.caller === null || request.caller.kind === "session") throw unauthorized();
  };
}

function unauthorized(): Problem {
  return new Problem("unauthorized", "This needs the gateway's API key or an API token.");
}

async function identify(
  request: FastifyRequest,
  deps: GatewayDeps,
  checkKey: CheckKey,
): Promise<Caller | null> {
  if (request.headers.authorization !== undefined) {
    const key = keyOf(request);
    if (key === undefined) return null;
    const token = deps.context.tokens.use(key);
    if (!(await checkKey(request, key, token !== null))) return null;
    return token === null ? { kind: "key" } : { kind: "token", token };
  }
  const [sessionId] = sessionsOf(request, deps);
  return sessionId === undefined ? null : { kind: "session", sessionId };
}

function keyOf(request: FastifyRequest): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** Session cookies of one request that are checked; each costs a read of the database. */
const maxCookies = 20;

/**
 * The ids of the live sessions in the request's cookies. A page on another port of the same name can put a cookie of the
 * same name before the valid one, so that reading only the first would lock its browser out.
 */
export function sessionsOf(request: FastifyRequest, deps: GatewayDeps): readonly string[] {
  // The operator's socket has no cookies.
  if ((request as Partial<FastifyRequest>).cookies === undefined) return [];
  const { isBackground = false } = request.routeOptions.config;
  const found = [...(request.headers.cookie ?? "").matchAll(sessionPattern)].slice(-maxCookies);
  return found.flatMap(([, token = ""]) => {
    const id = isBackground ? deps.sessions.find(token) : deps.sessions.touch(token);
    return id ?? [];
  });
}

/** A browser sends its cookies with requests of other sites, too: these are rejected. */
function checkOrigin(request: FastifyRequest): void {
  const isSafe = request.method === "GET" || request.method === "HEAD";
  // Browsers send neither header on a plain-HTTP LAN address, so a stream without them is accepted.
  const isStream = request.routeOptions.config.stream !== undefined;
  const isRefused = isSafe ? isStream && isForeign(request) : !isSameOrigin(request);
  if (isRefused) {
    throw new Problem("foreign_origin", "The request came from a page of another origin.");
  }
}

/** True when a person's browser opens a page, as opposed to a program or a script of a page. */
export function isPageVisit(request: FastifyRequest): boolean {
  const isRead = request.method === "GET" || request.method === "HEAD";
  return isRead && (request.headers.accept ?? "").includes("text/html");
}

/** The person behind an authenticated request; without an address on the operator's socket. */
export function personOf({
  caller,
  ip,
}: Pick<FastifyRequest, "caller"> & { readonly ip: string | undefined }): Person {
  // Requests on the operator's socket have no address.
  const from = ip ?? null;
  if (caller?.kind === "token") return { via: "token", name: caller.token.name, from };
  return { via: caller?.kind === "session" ? "login" : "key", name: "", from };
}

/** Emits when the caller loses its access: the session or token ended, or another key is active. */
export function endOfAccess(request: FastifyRequest, deps: GatewayDeps): Observable<unknown> {
  const { caller } = request;
  if (caller?.kind === "token") return deps.context.tokens.end$(keyOf(request) ?? "");
  const end$ =
    caller?.kind === "session"
      ? deps.sessions.ended$.pipe(filter((id) => id === caller.sessionId))
      : deps.keyChange$;
  // The session may have ended while the route read something.
  return merge(
    end$,
    defer(() => (hasAccess(request, deps) ? NEVER : of(null))),
  );
}

function hasAccess(request: FastifyRequest, deps: GatewayDeps): boolean {
  const { caller } = request;
  if (caller?.kind === "session") return sessionsOf(request, deps).includes(caller.sessionId);
  return caller === null || isSameSecret(keyOf(request) ?? "", deps.apiKey());
}
