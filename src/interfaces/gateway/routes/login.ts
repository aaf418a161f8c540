import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { withZod } from "../api/zod-types.ts";
import { sessionCookie, sessionsOf } from "../auth.ts";
import { loginPage, openingPage } from "../../dashboard/card-pages.ts";
import type { LoginMessage } from "../../dashboard/card-pages.ts";
import type { GatewayDeps } from "../deps.ts";
import type { CheckKey } from "../key-guesses.ts";
import { moveToPrivateHost, rememberedAs, shouldMove } from "../private-host.ts";
import { HttpProblem, problemOf } from "../problem.ts";
import { isForeign } from "../same-origin.ts";
import { sendPage } from "../../dashboard/layout.ts";
import type { Page } from "../../dashboard/layout.ts";

const loginBody = z.object({ key: z.string().max(1000), next: z.string().optional() });
const cookieAttributes = { httpOnly: true, sameSite: "strict", path: "/" } as const;
const formType = "application/x-www-form-urlencoded";
const tag = "Login";
/** The query of a request that leads on to a page. */
export const nextQuery = z.object({
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
export function loginRoutes(app: FastifyInstance, deps: GatewayDeps, checkKey: CheckKey): void {
  const home = homeOf(deps);
  const pageFor = (next: string, message: LoginMessage | null): Page => {
    const remember = rememberedAs(deps.sessions.privateHost);
    return loginPage({ keyPath: deps.keyPath, next, message, remember });
  };
  app.addContentTypeParser(formType, { parseAs: "string" }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );

  const api = withZod(app);
  api.get("/login", { schema: pageSchema }, (request, reply) => {
    const next = safeNext(request.query.next, home);
    if (sessionsOf(request, deps).length > 0) return reply.redirect(next, 303);
    // After a link of another site the browser sends a strict cookie from the next page on.
    if (isForeign(request)) {
      return sendPage(reply.header("refresh", `0; url=${request.url}`), openingPage(request.url));
    }
    return sendPage(reply, pageFor(next, linkMessage(request.query.link) ?? endOfSession(request)));
  });

  api.post("/login", { bodyLimit: 8 * 1024, schema: loginSchema }, async (request, reply) => {
    refuseForeign(request);
    const { body } = request;
    const next = safeNext(body.next ?? request.query.next, home);
    const isForm = request.headers["content-type"]?.startsWith(formType) === true;
    try {
      if (!(await checkKey(request, body.key.trim()))) throw wrongKey();
    } catch (error) {
      if (!isForm) throw error;
      const { message: text, headers, status } = problemOf(error);
      return sendPage(reply.headers(headers), pageFor(next, { kind: "error", text }), status);
    }
    if (isForm && deps.dashboard && shouldMove(request)) {
      const path = `${deps.loginLinks.create("").url}?next=${encodeURIComponent(next)}`;
      return moveToPrivateHost(request, reply, { ...deps, path });
    }
    startSession(request, reply, deps);
    return isForm ? reply.redirect(next, 303) : reply.code(204).send();
  });

  const logout = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    refuseForeign(request);
    for (const id of sessionsOf(request, deps)) deps.sessions.end(id);
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

/** The first page of a browser without another wish. */
export function homeOf({ dashboard }: GatewayDeps): string {
  return dashboard ? "/dashboard" : "/control/status";
}

function wrongKey(): HttpProblem {
  return new HttpProblem(401, "wrong_key", "This is not the gateway’s API key.", {
    headers: { "www-authenticate": "Bearer" },
  });
}

/** Gives the browser the cookie of a new session, in place of those that it has. */
export function startSession(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: GatewayDeps,
): void {
  for (const id of sessionsOf(request, deps)) deps.sessions.end(id);
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
  return isOwn && isPage(url.pathname) ? path : fallback;
}

/** False for the login, the logout and what the router can't decode. */
function isPage(path: string): boolean {
  try {
    return !/^\/log(in|out)\b/.test(decodeURIComponent(path));
  } catch {
    return false;
  }
}
