import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { Problem } from "../../../foundation/errors.ts";
import type { ApiCall } from "../../mcp/api-call.ts";
import { routesOf } from "../api/route.ts";
import { isForeign } from "../known-hosts.ts";

type Dispatch = Pick<FastifyInstance, "routing">;

/** The MCP server: its tools send requests to the other routes of `app`, as their caller. */
export const mcpRoutes = (app: Dispatch) => [
  routesOf("MCP").post("/mcp", {
    summary: "The MCP server (streamable HTTP, without sessions)",
    description:
      "For MCP clients of the revision 2026-07-28 and of 2025, with the API key or an API token as bearer. The scopes and " +
      "agents of a token hold in each tool.",
    scope: "any",
    // Each tool's requests are checked by their own routes.
    isAbout: () => true,
    body: z.union([z.looseObject({}), z.array(z.unknown())]).meta({
      description: "A JSON-RPC message",
    }),
    produces: "application/json",
    problems: [403, 413, 503],
    handle: async (request, reply) => {
      if (isForeign(request)) {
        throw new Problem("foreign_origin", "The request came from a page of another origin.");
      }
      // Loaded by the first request: most schedulers never get one.
      const { createMcpHandler } = await import("@modelcontextprotocol/server");
      const { createMcpServer } = await import("../../mcp/mcp-server.ts");
      const call = await callsAs(request, app);
      // The tools never change: no subscription is kept open for them.
      const handler = createMcpHandler(() => createMcpServer(call), { maxSubscriptions: 0 });
      const answer = handler.fetch(webRequest(request, reply), { parsedBody: request.body });
      return reply.send(await answer);
    },
  }),
];

/** The request without its body and credentials, aborted when the client disconnects. */
function webRequest({ headers }: FastifyRequest, reply: FastifyReply): Request {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  const used = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    /^(accept|content-type|mcp-[\w-]+)$/.test(name) && typeof value === "string"
      ? [[name, value]]
      : [],
  );
  return new Request("http://localhost/mcp", {
    method: "POST",
    headers: used,
    signal: gone.signal,
  });
}

/** Requests to the app's own routes with the credentials, host and address of this one. */
async function callsAs({ headers, ip }: FastifyRequest, app: Dispatch): Promise<ApiCall> {
  const { default: inject } = await import("light-my-request");
  const { authorization = "", host = "" } = headers;
  const own = { authorization, host, accept: "application/json" };
  return async ({ method, path, body, headers: more }) => {
    const answer = await inject((req, res) => void app.routing(req, res), {
      method,
      url: path,
      remoteAddress: ip,
      headers: { ...own, ...more },
      ...(body === undefined ? {} : { payload: body }),
    });
    if (answer.statusCode < 400) return answer.json<unknown>();
    const { error, detail } = answer.json<{ readonly error: string; readonly detail: string }>();
    throw new Problem(error, detail, { status: answer.statusCode });
  };
}
