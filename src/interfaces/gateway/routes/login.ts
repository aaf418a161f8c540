import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { loginLinkSchema } from "../../../foundation/contracts/operator-api.ts";
import type { Person } from "../../../foundation/contracts/questions.ts";
import { Problem } from "../../../foundation/errors.ts";
import { loginPage, openingPage, type LoginMessage } from "../../dashboard/card-pages.tsx";
import { sendPage, type Document } from "../../dashboard/send-page.tsx";
import { localPath, publicPath } from "../../dashboard/text/base-path.ts";
import { emptyBody } from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
import { sessionCookie, sessionsOf } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import type { CheckKey } from "../key-guesses.ts";
import { problemOf } from "../problem.ts";
import { isForeign, moveToPrivateHost, rememberedAs, shouldMove } from "../known-hosts.ts";

const { get, post } = routesOf("Login");
const cookieAttributes = () =>
  ({ httpOnly: true, sameSite: "strict", path: publicPath("/") }) as const;
export const formType = "application/x-www-form-urlencoded";
const nextQuery = z.object({
  next: z.unknown().optional().meta({ description: "Where to go afterwards: a path of this site" }),
});
const pageQuery = nextQuery.extend({
  link: z.unknown().optional().meta({ description: "The state of the login link that led here" }),
});
const loginBody = z.object({ key: z.string().max(1000), next: z.string().optional() });
const linkParams = z.object({ token: z.string().meta({ description: "The link's token" }) });
const sessionIsOver = { kind: "warning", text: "Your session is over. Log in again." } as const;
const anotherLink = "al open makes another one.";
/** Messages by the state of the link that led to the page. */
const linkMessages: ReadonlyMap<unknown, string> = new Map([
  ["used", `This login link was used already. ${anotherLink}`],
  ["expired", `This login link is older than 10 minutes. ${anotherLink}`],
  ["unknown", `This login link is not one of the running scheduler. ${anotherLink}`],
]);
/** Seconds: the absolute lifetime of a session. The server's own clock decides, this only cleans up the browser. */
const cookieMaxAge = 7 * 24 * 3600;

/** Parses forms, for routes of this scope only. */
export function parseForms(scope: FastifyInstance): void {
  scope.addContentTypeParser(formType, { parseAs: "string" }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
}

export function isForm({ headers }: Pick<FastifyRequest, "headers">): boolean {
  return headers["content-type"]?.startsWith(formType) === true;
}

/** Login and logout of a browser: the key becomes a session. */
export function loginRoutes(deps: GatewayDeps, checkKey: CheckKey) {
  const home = homeOf(deps);
  const pageFor = (next: string, message: LoginMessage | null): Document => {
    const remember = rememberedAs(deps.sessions.privateHost);
    return loginPage({ next, message, remember });
  };
  const logout = {
    summary: "End the session and its streams",
    response: { 303: z.undefined() },
    problems: [403, 503],
    handle: (request: FastifyRequest, reply: FastifyReply) => {
      refuseForeign(request);
      const ended = sessionsOf(request, deps);
      for (const id of ended) deps.sessions.end(id);
      if (ended.length > 0) deps.context.audit.recordAct({ act: "logout" }, atDashboard(request));
      return reply
        .header("clear-site-data", '"cache"') // or Back would show a page from there
        .clearCookie(sessionCookie, cookieAttributes())
        .redirect("/login", 303);
    },
  } as const;
  return [
    get("/login", {
      summary: "The login page",
      query: pageQuery,
      produces: "text/html",
      handle: (request, reply) => {
        const next = safeNext(request.query.next, home);
        if (sessionsOf(request, deps).length > 0) return reply.redirect(next, 303);
        // After a link of another site, a browser sends strict cookies only from the next page on.
        if (isForeign(request)) {
          void reply.header("refresh", `0; url=${publicPath(request.url)}`);
          return sendPage(reply, openingPage(request.url));
        }
        const message = linkMessage(request.query.link) ?? endOfSession(request);
        return sendPage(reply, pageFor(next, message));
      },
    }),
    post("/login", {
      summary: "Start a browser's session",
      description: "A form is answered with a redirect (303) or the page again, JSON with 204.",
      query: nextQuery,
      body: loginBody,
      consumes: ["application/json", formType],
      response: { 204: z.undefined(), 303: z.undefined() },
      problems: [401, 403, 413, 429, 503],
      options: { bodyLimit: 8 * 1024 },
      handle: async (request, reply) => {
        refuseForeign(request);
        const { body } = request;
        const next = safeNext(body.next ?? request.query.next, home);
        try {
          if (!(await checkKey(request, body.key.trim()))) throw wrongKey();
        } catch (error) {
          if (!isForm(request)) throw error;
          const { message: text, headers, status } = problemOf(error);
          return sendPage(reply.headers(headers), pageFor(next, { kind: "error", text }), status);
        }
        if (isForm(request) && deps.dashboard && shouldMove(request)) {
          const path = `${deps.loginLinks.create("").url}?next=${encodeURIComponent(next)}`;
          return moveToPrivateHost(request, reply, { ...deps, path });
        }
        startSession(request, reply, deps);
        return isForm(request) ? reply.redirect(next, 303) : reply.send();
      },
    }),
    // A HEAD must change nothing.
    get("/logout", { ...logout, options: { exposeHeadRoute: false } }),
    post("/logout", logout),
    ...(deps.dashboard ? linkRoutes(deps) : []),
  ];
}

/**
 * Opens a login link: starts a session, and redirects to an address without the token before a page is shown, so that
 * the token is in no history and no Referer.
 */
const linkRoutes = (deps: GatewayDeps) => [
  get("/login/:token", {
    summary: "Log in with a link from al start or al open",
    description: "A used or expired link leads to the login page, which shows the reason.",
    params: linkParams,
    query: nextQuery,
    response: { 303: z.undefined() },
    problems: [503],
    // A HEAD must not use the link up.
    options: { exposeHeadRoute: false },
    handle: (request, reply) => {
      const { token } = request.params;
      const state = deps.loginLinks.state(token);
      void reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
      if (state === "good" && shouldMove(request)) {
        return moveToPrivateHost(request, reply, { ...deps, path: request.url });
      }
      if (state === "good") {
        startSession(request, reply, deps);
        deps.loginLinks.use(token);
      }
      // The login page of this site is shown first, because a browser sends no strict cookie along a link of another.
      const isDirect = state === "good" && !isForeign(request);
      const { next } = request.query;
      if (isDirect) return reply.redirect(safeNext(next, homeOf(deps)), 303);
      const query = typeof next === "string" ? `&next=${encodeURIComponent(next)}` : "";
      return reply.redirect(`/login?link=${state}${query}`, 303);
    },
  }),
];

/** Makes a login link: only for programs on the operator's socket, or a session could renew itself for ever. */
export const createLinkRoutes = ({ context, dashboard, loginLinks, publicUrl }: GatewayDeps) => [
  post("/control/login-link", {
    summary: "Make a link that logs a browser in, once, within 10 minutes",
    body: emptyBody,
    response: { 200: loginLinkSchema },
    audit: () => ({ act: "login-link" }),
    problems: [409],
    handle: () => {
      const { gatewayUrl } = context.status.snapshot().scheduler;
      if (dashboard && gatewayUrl !== null) return loginLinks.create(publicUrl ?? gatewayUrl);
      throw new Problem("no_dashboard", "The scheduler runs without the dashboard.");
    },
  }),
];

function linkMessage(link: unknown): LoginMessage | null {
  const text = linkMessages.get(link);
  return text === undefined ? null : { kind: "warning", text };
}

/** A cookie without a session is an expired one: a logout removes the cookie, and needs no message. */
function endOfSession(request: FastifyRequest): LoginMessage | null {
  return (request.cookies[sessionCookie] ?? "") === "" ? null : sessionIsOver;
}

/** The first page of a browser that requested none. */
function homeOf({ dashboard }: GatewayDeps): string {
  return dashboard ? "/dashboard" : "/control/status";
}

function wrongKey(): Problem {
  return new Problem("wrong_key", "This is not the gateway’s API key.", {
    headers: { "www-authenticate": "Bearer" },
  });
}

/** Gives the browser the cookie of a new session, replacing its others. */
function startSession(request: FastifyRequest, reply: FastifyReply, deps: GatewayDeps): void {
  for (const id of sessionsOf(request, deps)) deps.sessions.end(id);
  const isSecure = request.protocol === "https";
  const attributes = { ...cookieAttributes(), maxAge: cookieMaxAge, secure: isSecure };
  void reply.setCookie(sessionCookie, deps.sessions.create(), attributes);
  deps.context.audit.recordAct({ act: "login" }, atDashboard(request));
}

function atDashboard({ ip }: FastifyRequest): Person {
  return { via: "login", name: "", from: ip };
}

function refuseForeign(request: FastifyRequest): void {
  if (isForeign(request)) {
    throw new Problem("foreign_origin", "The request came from a page of another origin.");
  }
}

/** Any origin that no site has, for resolving a path. */
const base = "http://this.invalid";

/** The path after a login: one of this site, or the fallback. `next` comes from the address bar. */
export function safeNext(next: unknown, fallback: string): string {
  const given = typeof next === "string" ? next : "";
  if (!given.startsWith("/") || !URL.canParse(given, base)) return fallback;
  const url = new URL(given, base);
  const path = withoutBase(url.pathname) + url.search;
  // The parser takes `/.//evil.example` for a path of this site, but its normalized form leads a browser elsewhere.
  const isOwn = url.origin === base && !/^\/[/\\]/.test(path);
  return isOwn && isPage(url.pathname) ? path : fallback;
}

/** A path without the gateway's base, even if repeated: each proxy and the gateway may remove one. */
function withoutBase(path: string): string {
  const local = localPath(path);
  return local === path ? path : withoutBase(local);
}

/** False for the login, the logout and paths that the router can't decode. */
function isPage(path: string): boolean {
  try {
    return !/^\/log(in|out)\b/.test(withoutBase(decodeURIComponent(path)));
  } catch {
    return false;
  }
}
