import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { deliveryAnswer } from "../api/answers.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";
import { sendProblem } from "../../../foundation/send-problem.ts";
import { internalError } from "../problem.ts";

const { post } = routesOf("Webhooks");
const typeParams = z.object({ type: z.string() });
const sourceParams = typeParams.extend({ source: z.string() });

/** Leaves the bytes of bodies unparsed, because signatures cover them. */
export function prepareWebhooks(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  );
}

/**
 * Gives the memory of a body back. The collector would do so minutes later: it takes bodies that waited for their commit
 * for old, and 50 MB of them would lie about in a heap that the C library then keeps for ever.
 */
function release({ buffer, byteLength }: Buffer): void {
  // A small body is part of a buffer that others share.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** The routes that providers deliver to; `receiveWebhook` verifies and accepts a delivery. */
export function webhookRoutes({ receiveWebhook, maxBodyBytes }: GatewayDeps) {
  const receive = async (
    { headers, body }: FastifyRequest,
    reply: FastifyReply,
    { type, source = null }: { readonly type: string; readonly source?: string | null },
  ): Promise<FastifyReply> => {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const delivery = { type, source, headers, body: bytes };
    // An unauthenticated client reads the response, and an error's message may name files.
    const answer = await receiveWebhook(delivery).catch((error: unknown) => {
      throw internalError(error);
    });
    release(bytes);
    if (answer.status === 200) return reply.send(answer.body ?? undefined);
    const { status, error: code, detail: message } = answer;
    return sendProblem(reply, { status, code, message });
  };
  const shared = {
    response: { 200: deliveryAnswer },
    problems: [400, 401, 403, 404, 413, 503],
    options: { bodyLimit: maxBodyBytes },
  } as const;
  return [
    post("/webhooks/:type", {
      ...shared,
      summary: "Deliver a webhook to whichever source of a provider type signed it",
      params: typeParams,
      handle: (request, reply) => receive(request, reply, request.params),
    }),
    post("/webhooks/:type/:source", {
      ...shared,
      summary: "Deliver a webhook to one source",
      params: sourceParams,
      handle: (request, reply) => receive(request, reply, request.params),
    }),
  ];
}
