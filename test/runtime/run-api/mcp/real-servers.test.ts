import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { InMemoryEventStore } from "mcp-sdk-v1/examples/shared/inMemoryEventStore.js";
import { McpServer } from "mcp-sdk-v1/server/mcp.js";
import { StreamableHTTPServerTransport } from "mcp-sdk-v1/server/streamableHttp.js";
import { ListToolsRequestSchema } from "mcp-sdk-v1/types.js";
import { ownAddress } from "../../../e2e/mcp-servers.ts";
import { listen } from "../../../helpers/listen.ts";
import { pause } from "../../../helpers/pause.ts";
import { mcpClients } from "./clients.ts";

const text = (text: string) => ({ content: [{ type: "text" as const, text }] });

/** A client of a server of the SDK that keeps its events; each tool call may take `timeoutSeconds`. */
async function connected(timeoutSeconds?: number) {
  const server = new McpServer({ name: "resumable", version: "1" });
  server.registerTool("closes", {}, async ({ closeSSEStream }) => {
    closeSSEStream?.();
    await pause(50, "the result is sent while no stream is open");
    return text("resumed");
  });
  server.registerTool("slow", {}, async ({ _meta, sendNotification }) => {
    const { progressToken = "" } = _meta ?? {};
    for (let progress = 1; progress <= 4; progress += 1) {
      await pause(1_000, "the call takes longer than its limit, and reports progress");
      const params = { progressToken, progress };
      await sendNotification({ method: "notifications/progress", params });
    }
    return text("done");
  });
  server.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: new InMemoryEventStore(),
    retryInterval: 10,
  });
  await server.connect(transport);
  const http = createServer((request, response) => {
    void (async () => {
      const body = request.method === "POST" ? await json(request) : undefined;
      await transport.handleRequest(request, response, body);
    })();
  });
  const port = await listen(http, 0, "0.0.0.0");
  onTestFinished(() => http.close().closeAllConnections());
  const { signal, connect } = mcpClients(`http://${ownAddress()}:${port}/mcp`, timeoutSeconds);
  const client = await connect("a");
  const call = async (name: string) => (await client.call(name, {}, { signal })).content[0]?.text;
  return { call, client };
}

const serverInfo = { name: "endless", version: "1" };

const tools = [
  { name: "good", inputSchema: { type: "object" } },
  { name: "untyped", description: "Draws.", inputSchema: { properties: {} } },
  { name: "", inputSchema: { type: "object" } },
  { name: "a tool of\nmine", inputSchema: { type: "object" } },
  { name: "anything", inputSchema: true },
  { name: "described", description: null, inputSchema: { type: "object" } },
];

test("malformed MCP tools are left out with the reason, the others stay", async () => {
  const { client } = await connected();
  const { tools, omitted } = await client.tools();
  expect(tools).toEqual([
    { name: "good", description: "", inputSchema: { type: "object" } },
    { name: "untyped", description: "Draws.", inputSchema: { type: "object", properties: {} } },
  ]);
  expect(omitted).toEqual([
    '"": its name is not valid',
    String.raw`"a tool of\nmine": its name is not valid`,
    expect.stringMatching(/^"anything": inputSchema: Invalid input/),
    expect.stringMatching(/^"described": description: Invalid input/),
  ]);
});

test("an MCP call whose event stream the server closes goes on by the id of the last event", async () => {
  const { call } = await connected();
  expect(await call("closes")).toBe("resumed");
});

test("an MCP call whose event stream ends again and again fails, and the server is not asked without a pause", async () => {
  let asked = 0;
  const http = createServer((request, response) => {
    void (async () => {
      const body = request.method === "POST" ? await json(request) : { method: "resume" };
      const { id, method } = body as { readonly id?: number; readonly method: string };
      if (method !== "tools/call" && method !== "resume") {
        const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
        const unknown = { error: { code: -32_601, message: "Method not found" } };
        const answer = method === "initialize" ? { result } : unknown;
        response.writeHead(id === undefined ? 202 : 200, { "content-type": "application/json" });
        return response.end(
          id === undefined ? "" : JSON.stringify({ jsonrpc: "2.0", id, ...answer }),
        );
      }
      asked += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.end(`id: ${asked}\nretry: 0\ndata:\n\n`);
    })();
  });
  const url = `http://${ownAddress()}:${await listen(http, 0, "0.0.0.0")}/mcp`;
  onTestFinished(() => http.close().closeAllConnections());
  const { signal, connect } = mcpClients(url, 3);
  const client = await connect("a");
  await expect(client.call("endless", {}, { signal })).rejects.toThrow("no answer within 3 s");
  expect(asked).toBeLessThan(6);
});

test("the time limit of an MCP call begins anew with each progress that the server reports", async () => {
  const { call } = await connected(3);
  expect(await call("slow")).toBe("done");
});

test("an MCP server of the old transport HTTP+SSE is refused with a remedy", async () => {
  const http = createServer((_request, response) => void response.writeHead(405).end("no"));
  const url = `http://${ownAddress()}:${await listen(http, 0, "0.0.0.0")}/sse`;
  onTestFinished(() => http.close().closeAllConnections());
  await expect(mcpClients(url).connect("a")).rejects.toThrow(
    `it refuses POST (405), like servers with the old transport HTTP+SSE. Use its address for Streamable HTTP, or set \`command = ["npx", "mcp-remote", "${url}"]\` instead of url`,
  );
});
