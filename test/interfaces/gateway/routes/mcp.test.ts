import { bearer, logIn, openApp } from "../start-gateway.ts";

const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
const accept = "application/json, text/event-stream";
const ask = (headers: object = {}, payload: object = list) => ({
  payload,
  headers: { accept, ...headers },
});

test("the MCP server needs the key or a token, and says so as MCP clients expect", async () => {
  const { app, post } = await openApp();
  const anonymous = await app.inject({ method: "POST", url: "/mcp", ...ask() });
  expect(anonymous.statusCode).toBe(401);
  expect(anonymous.headers["www-authenticate"]).toBe("Bearer");
  const cookie = await logIn(app);
  const session = ask({ cookie, host: "localhost", origin: "http://localhost" });
  expect((await app.inject({ method: "POST", url: "/mcp", ...session })).statusCode).toBe(401);
  expect((await post("/mcp", ask())).statusCode).toBe(200);
});

test("the MCP server refuses pages of other sites, and unknown hosts", async () => {
  const { post } = await openApp();
  const foreign = await post("/mcp", ask({ origin: "https://evil.example" }));
  expect(foreign.json()).toMatchObject({ status: 403, error: "foreign_origin" });
  const rebound = await post("/mcp", ask({ host: "evil.example" }));
  expect(rebound.json()).toMatchObject({ status: 403, error: "unknown_host" });
});

test("the MCP server has no sessions: GET and DELETE are 405, a body without a message is 400", async () => {
  const { app, post } = await openApp();
  for (const method of ["GET", "DELETE"] as const) {
    const answer = await app.inject({ method, url: "/mcp", headers: bearer });
    expect({ status: answer.statusCode, allow: answer.headers.allow }).toEqual({
      status: 405,
      allow: "POST, OPTIONS",
    });
  }
  expect((await post("/mcp", { headers: { accept } })).statusCode).toBe(400);
  expect((await post("/mcp", ask({}, { hello: 1 }))).statusCode).toBe(400);
});

test("a subscription is refused at once: the tools never change", async () => {
  const { post } = await openApp();
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { _meta: meta, notifications: { toolsListChanged: true } };
  const message = { jsonrpc: "2.0", id: 7, method: "subscriptions/listen", params };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" };
  const answer = await post("/mcp", ask(headers, message));
  expect(answer.json()).toMatchObject({ id: 7, error: { code: -32603 } });
});

test("tools reach the routes as the caller: by its address, and only with its key", async () => {
  const { post, operations } = await openApp();
  const params = { name: "act", arguments: { action: "pause", target: "dev" } };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const answer = await post("/mcp", { ...ask({}, call), remoteAddress: "10.1.2.3" });
  expect(answer.statusCode).toBe(200);
  expect(operations.acts).toMatchObject([
    { act: "disable", agent: "dev", by: { via: "key", from: "10.1.2.3" } },
  ]);
});
