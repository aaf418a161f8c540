import type { FastifyInstance } from "fastify";
import type { OpenApi } from "../api/openapi.ts";
import { docsPage } from "../docs-page.ts";
import { sendPage } from "../../dashboard/layout.ts";

const tag = "Description";

/** The API's description for programs. `describe` is asked when all routes are there. */
export function openapiRoute(app: FastifyInstance, describe: () => OpenApi): void {
  const schema = { tag, summary: "This description, as OpenAPI 3.1", produces: "application/json" };
  // Made once: it can't change after the start, and requests for it may need no key.
  let text: string | null = null;
  app.get("/openapi.json", { schema }, (_request, reply) => {
    text ??= JSON.stringify(describe());
    return reply.type("application/json; charset=utf-8").send(text);
  });
}

/** The same for people. */
export function docsRoute(app: FastifyInstance, describe: () => OpenApi): void {
  const schema = { tag, summary: "This description, as a page", produces: "text/html" };
  let page: ReturnType<typeof docsPage> | null = null;
  app.get("/docs", { schema }, (_request, reply) =>
    sendPage(reply, (page ??= docsPage(describe()))),
  );
}
