import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { deliveryAnswer } from "../api/answers.ts";
import type { GatewayDeps } from "../deps.ts";
import { paramOf } from "../names.ts";
import { HttpProblem } from "../problem.ts";

const shared = {
  tag: "Webhooks",
  response: { 200: deliveryAnswer },
  problems: [400, 401, 403, 404, 413, 503],
};
const typeSchema = {
  ...shared,
  summary: "Deliver a webhook to whichever source of a provider type signed it",
};
const sourceSchema = { ...shared, summary: "Deliver a webhook to one source" };

/** Where providers deliver; what a delivery is worth is decided behind `receiveWebhook`. */
export function webhookRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  // A signature covers the bytes as they came, so nothing parses them here.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  const receive = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const source = paramOf(request, "source");
    const answer = await deps.operations.receiveWebhook({
      type: paramOf(request, "type"),
      source: source === "" ? null : source,
      headers: request.headers,
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    });
    if (answer.status === 200) return reply.code(200).send(answer.body ?? undefined);
    const headers = answer.status === 503 ? { "retry-after": "5" } : {};
    throw new HttpProblem(answer.status, answer.error, answer.detail, { headers });
  };
  app.addHook("onRequest", (_request, reply, done) => {
    reply.header("x-content-type-options", "nosniff");
    done();
  });
  // No browser shows these answers: a nonce and a policy for each delivery would have no reader.
  const options = { helmet: false, bodyLimit: deps.maxBodyBytes } as const;
  app.post("/webhooks/:type", { ...options, schema: typeSchema }, receive);
  app.post("/webhooks/:type/:source", { ...options, schema: sourceSchema }, receive);
}
