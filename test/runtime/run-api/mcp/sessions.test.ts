import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { McpServer } from "mcp-sdk-v1/server/mcp.js";
import { StreamableHTTPServerTransport } from "mcp-sdk-v1/server/streamableHttp.js";
import { isInitializeRequest } from "mcp-sdk-v1/types.js";
import { ownAddress } from "../../../e2e/mcp-servers.ts";
import { listen } from "../../../helpers/listen.ts";
import { mcpClients } from "./clients.ts";

type Refuse = (response: ServerResponse, id: number) => void;
const withError = (status: number, type: string, message: string): Refuse => {
  return (response, id) => {
    const text = JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_001, message } });
    const body = type === "text/event-stream" ? `event: message\ndata: ${text}\n\n` : text;
    response.writeHead(status, { "content-type": type }).end(body);
  };
};
const notFound = withError(404, "application/json", "Session not found");

/** A server of the SDK with sessions, and a client of it; `refuse` answers a request of a session that it doesn't know. */
async function connected(refuse: Refuse = notFound) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const state = { initialized: 0, called: 0, isFull: false };
  const begin = async () => {
    state.initialized += 1;
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const server = new McpServer({ name: "stateful", version: "1" });
    server.registerTool("count", {}, () => {
      return { content: [{ type: "text", text: `call ${(state.called += 1)}` }] };
    });
    await server.connect(transport);
    return transport;
  };
  const server = createServer((request, response) => {
    void (async () => {
      const body = request.method === "POST" ? await json(request) : undefined;
      const { id, params } = (body ?? {}) as { id: number; params?: { name?: string } };
      const known = sessions.get(String(request.headers["mcp-session-id"]));
      if (isInitializeRequest(body) && state.isFull) response.writeHead(503).end();
      else if (isInitializeRequest(body))
        await (await begin()).handleRequest(request, response, body);
      else if (known === undefined) refuse(response, id);
      else if (params?.name === "login") {
        state.called += 1;
        withError(200, "application/json", "Ada's login session expired")(response, id);
      } else if (params?.name === "cut") {
        state.called += 1;
        response.destroy();
      } else await known.handleRequest(request, response, body);
    })();
  });
  const port = await listen(server, 0, "0.0.0.0");
  onTestFinished(() => server.close().closeAllConnections());
  const { signal, connect } = mcpClients(`http://${ownAddress()}:${port}/mcp`);
  const client = await connect("a");
  const call = async (name = "count") => (await client.call(name, {}, { signal })).content[0]?.text;
  return { call, client, sessions, state };
}

test.each([
  ["404", notFound],
  ["400", withError(400, "application/json", "Bad Request: No valid session ID provided")],
  ["410", (response: ServerResponse) => void response.writeHead(410).end()],
  ["200 with an error", withError(200, "text/event-stream", "Session not found")],
] as const)(
  "MCP calls whose session the server forgot (%s) share a new session, and each is executed once",
  async (_form, refuse) => {
    const { call, client, sessions, state } = await connected(refuse);
    expect(await call()).toBe("call 1");
    sessions.clear();
    const texts = await Promise.all([call(), call(), call()]);
    expect(texts.sort()).toEqual(["call 2", "call 3", "call 4"]);
    expect(state).toMatchObject({ initialized: 2, called: 4 });
    sessions.clear();
    expect(await call()).toBe("call 5");
    await client.close();
    expect(state).toMatchObject({ initialized: 3 });
  },
);

test.each([
  ["cuts the connection", "cut"],
  ["reports an expired login", "login"],
])("an MCP call is not repeated if the tool %s", async (_what, tool) => {
  const { call, state } = await connected();
  await expect(call(tool)).rejects.toThrow();
  expect(state).toMatchObject({ initialized: 1, called: 1 });
});

test("an MCP call starts a new session if the previous one failed to start", async () => {
  const { call, sessions, state } = await connected();
  sessions.clear();
  state.isFull = true;
  await expect(call()).rejects.toThrow("Error POSTing");
  state.isFull = false;
  expect(await call()).toBe("call 1");
});
