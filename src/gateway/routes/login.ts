import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { withZod } from "../api/zod-types.ts";
import { isSameSecret } from "../../contracts/same-secret.ts";
import { sessionCookie, sessionOf } from "../auth.ts";
import { loginPage, openingPage } from "../dashboard/card-pages.ts";
import type { LoginMessage } from "../dashboard/card-pages.ts";
import type { GatewayDeps } from "../deps.ts";
import { createLoginDelay } from "../login-delay.ts";
import type { LoginDelay } from "../login-delay.ts";
import { HttpProblem } from "../problem.ts";
import { isForeign } from "../same-origin.ts";
import { sendPage } from "../dashboard/layout.ts";

const loginBody = z.object({ key: z.string().max(1000), next: z.string().optional() });
const cookieAttributes = { httpOnly: true, sameSite: "strict", path: "/" } as const;
const formType = "application/x-www-form-urlencoded";
const tag = "Login";
const nextQuery = z.object({
  next: z.unknown().optional().meta({ description: "Where to go afterwards: a path of this site" }),
});
const pageQuery = nextQuery.extend({
  link: z.unknown().optional().meta({ description: "The state of the login link that led here" }),
});
const pageSchema = {
  tag,
  summary: "The login page",
  querystring: pageQuery,
  produces: "text/html",
};
const loginSchema = {
  tag,
  summary: "Start a browser's session",
  querystring: nextQuery,
  body: loginBody,
  consumes: ["application/json", formType],
  description: "A form is answered with a redirect (303) or the page again, JSON with 204.",
  response: { 204: z.undefined(), 303: z.undefined() },
  problems: [401, 403, 413, 429, 503],
};
const logoutSchema = {
  tag,
  summary: "End the session and its streams",
  response: { 303: z.undefined() },
  problems: [403, 503],
};
const sessionIsOver = { kind: "warning", text: "Your session is over. Log in again." } as const;
const anotherLink = "al open makes another one.";
/** By the state of the link that led to the page. */
const linkMessages: ReadonlyMap<unknown, string> = new Map([
  ["used", `This login link was used already. ${anotherLink}`],
  ["expired", `This login link is older than 10 minutes. ${anotherLink}`],
  ["unknown", `This login link is not one of the running scheduler. ${anotherLink}`],
]);
/** Seconds: the absolute lifetime of a session. The server's own clock decides, this tidies the browser. */
const cookieMaxAge = 7 * 24 * 3600;

/** A browser's way in and out: the key becomes a session. */
export function loginRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const delay = createLoginDelay();
  const home = deps.dashboard ? "/dashboard" : "/control/status";
  app.addContentTypeParser(formType, { parseAs: "string" }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );

  const api = withZod(app);
  api.get("/login", { schema: pageSchema }, (request, reply) => {
    const next = safeNext(request.query.next, home);
    if (sessionOf(request, deps) !== null) return reply.redirect(next, 303);
    const { link } = request.query;
    // The browser sends the cookie of the new session from the next page on.
    if (link === "good")
      return sendPage(reply.header("refresh", `0; url=${home}`), openingPage(home));
    const message = linkMessage(link) ?? endOfSession(request);
    return sendPage(reply, loginPage({ keyPath: deps.keyPath, next, message }));
  });

  api.post("/login", { bodyLimit: 8 * 1024, schema: loginSchema }, (request, reply) => {
    refuseForeign(request);
    const { body } = request;
    const next = safeNext(body.next ?? request.query.next, home);
    const refusal = judge(body.key.trim(), request.ip, deps, delay);
    const isForm = request.headers["content-type"]?.startsWith(formType) === true;
    if (refusal === null) {
      startSession(request, reply, deps);
      return isForm ? reply.redirect(next, 303) : reply.code(204).send();
    }
    if (!isForm) throw refusal;
    const message = { kind: "error", text: refusal.message } as const;
    const page = loginPage({ keyPath: deps.keyPath, next, message });
    return sendPage(reply.headers(refusal.headers), page, refusal.status);
  });

  const logout = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    refuseForeign(request);
    const sessionId = sessionOf(request, deps);
    if (sessionId !== null) deps.sessions.end(sessionId);
    return reply.clearCookie(sessionCookie, cookieAttributes).redirect("/login", 303);
  };
  // A HEAD must change nothing, so it isn't derived from this GET.
  app.get("/logout", { exposeHeadRoute: false, schema: logoutSchema }, logout);
  app.post("/logout", { schema: logoutSchema }, logout);
}

function linkMessage(link: unknown): LoginMessage | null {
  const text = linkMessages.get(link);
  return text === undefined ? null : { kind: "warning", text };
}

/** Who logged out brings no cookie. */
function endOfSession(request: FastifyRequest): LoginMessage | null {
  return (request.cookies[sessionCookie] ?? "") === "" ? null : sessionIsOver;
}

/** Null when the key is right; too many tries are refused before the key is looked at. */
function judge(
  key: string,
  address: string,
  deps: GatewayDeps,
  delay: LoginDelay,
): HttpProblem | null {
  const seconds = delay.secondsToWait(address);
  if (seconds > 0) {
    const detail = `Too many wrong keys; wait ${seconds} s and try again.`;
    return new HttpProblem(429, "too_many_tries", detail, {
      headers: { "retry-after": String(seconds) },
    });
  }
  if (isSameSecret(key, deps.apiKey())) {
    delay.succeeded(address);
    return null;
  }
  delay.failed(address);
  return new HttpProblem(401, "wrong_key", "This is not the gateway’s API key.", {
    headers: { "www-authenticate": "Bearer" },
  });
}

/** Gives the browser the cookie of a new session, in place of the one that it has. */
export function startSession(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: GatewayDeps,
): void {
  const previous = sessionOf(request, deps);
  if (previous !== null) deps.sessions.end(previous);
  const isSecure = request.protocol === "https";
  const attributes = { ...cookieAttributes, maxAge: cookieMaxAge, secure: isSecure };
  void reply.setCookie(sessionCookie, deps.sessions.create(), attributes);
}

function refuseForeign(request: FastifyRequest): void {
  if (isForeign(request)) {
    throw new HttpProblem(403, "foreign_origin", "A page of another origin asked for this.");
  }
}

/** Any origin that no site has, to resolve a path against. */
const base = "http://this.invalid";

/** The path to go to after login: one of this site, or the fallback. `next` comes from the address bar. */
export function safeNext(next: unknown, fallback: string): string {
  if (typeof next !== "string" || !next.startsWith("/") || !URL.canParse(next, base)) {
    return fallback;
  }
  const url = new URL(next, base);
  const path = url.pathname + url.search;
  // `/.//evil.example` is of this site to the parser, yet its normalized path is not to a browser.
  const isOwn = url.origin === base && !/^\/[/\\]/.test(path);
  return isOwn && !/^\/log(in|out)\b/.test(path) ? path : fallback;
}
