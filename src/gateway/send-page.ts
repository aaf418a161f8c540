import type { FastifyReply } from "fastify";
import { renderPage } from "./dashboard/layout.ts";
import type { Page } from "./dashboard/layout.ts";

/** Answers with a page under this answer's own nonces. */
export function sendPage(reply: FastifyReply, page: Page, status = 200): FastifyReply {
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .header("cache-control", "no-store")
    .send(renderPage(page, reply.cspNonce));
}
