import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { emptyBody } from "../api/bodies.ts";
import { withZod } from "../api/zod-types.ts";
import { loginLinkSchema } from "../../../foundation/contracts/login-link.ts";
import type { GatewayDeps } from "../deps.ts";
import { HttpProblem } from "../problem.ts";
import { moveToPrivateHost, shouldMove } from "../private-host.ts";
import { isForeign } from "../same-origin.ts";
import { homeOf, nextQuery, safeNext, startSession } from "./login.ts";

const tag = "Login";
const params = z.object({ token: z.string().meta({ description: "The link's token" }) });

/**
 * Opens a login link: starts a session, and leaves for an address without the token before a page is shown, so that the
 * token is in no history and no Referer.
 */
export function loginLinkRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const schema = {
    tag,
    summary: "Log in by a link that al start or al open made",
    description: "A link that is used or old leads to the login page, which says why.",
    params,
    querystring: nextQuery,
    response: { 303: z.undefined() },
    problems: [503],
  };
  // A HEAD must not use the link up, so it isn't derived from this GET.
  withZod(app).get("/login/:token", { exposeHeadRoute: false, schema }, (request, reply) => {
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
  });
}

/** Makes a login link: for programs on the operator's socket only, or a session could renew itself for ever. */
export function createLoginLinkRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const schema = {
    tag,
    summary: "Make a link that logs a browser in, once, within 10 minutes",
    body: emptyBody,
    response: { 200: loginLinkSchema },
    problems: [409],
  };
  withZod(app).post("/control/login-link", { schema }, () => {
    const { gatewayUrl } = deps.operations.snapshot().scheduler;
    if (deps.dashboard && gatewayUrl !== null) return deps.loginLinks.create(gatewayUrl);
    const detail = "The scheduler runs without the dashboard.";
    throw new HttpProblem(409, "no_dashboard", detail);
  });
}
