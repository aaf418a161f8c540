import { bearer, logIn, openApp } from "../start-gateway.ts";

const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
const accept = "application/json, text/event-stream";
const ask = (headers: object = {}, payload: object = list) => ({
  payload,
  headers: { accept, ...headers },
});

describe("the MCP server", () => {
  test("takes the key and no session, and refuses as MCP clients expect", async () => {
    const { app, post } = await openApp();
    const anonymous = await app.inject({ method: "POST", url: "/mcp", ...ask() });
    expect(anonymous.statusCode).toBe(401);
    expect(anonymous.headers["www-authenticate"]).toBe("Bearer");
    const cookie = await logIn(app);
    const session = ask({ cookie, host: "localhost", origin: "http://localhost" });
    expect((await app.inject({ method: "POST", url: "/mcp", ...session })).statusCode).toBe(401);
    expect((await post("/mcp", ask())).statusCode).toBe(200);
  });

  test.each([
    [{ origin: "https://evil.example" }, "foreign_origin"],
    [{ host: "evil.example" }, "unknown_host"],
  ])("refuses a request with %j as %s", async (headers, error) => {
    const response = await (await openApp()).post("/mcp", ask(headers));
    expect(response.json()).toMatchObject({ status: 403, error });
  });

  test("has no sessions: GET and DELETE are 405, a body without a message is 400", async () => {
    const { app, post } = await openApp();
    for (const method of ["GET", "DELETE"] as const) {
      const { statusCode, headers } = await app.inject({ method, url: "/mcp", headers: bearer });
      expect([statusCode, headers.allow]).toEqual([405, "POST, OPTIONS"]);
    }
    expect((await post("/mcp", { headers: { accept } })).statusCode).toBe(400);
    expect((await post("/mcp", ask({}, { hello: 1 }))).statusCode).toBe(400);
  });

  test("refuses a subscription at once, as the tools never change", async () => {
    const version = "2026-07-28";
    const meta = {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const method = "subscriptions/listen";
    const params = { _meta: meta, notifications: { toolsListChanged: true } };
    const headers = { "mcp-protocol-version": version, "mcp-method": method };
    const message = ask(headers, { ...list, method, params });
    const answer = await (await openApp()).post("/mcp", message);
    expect(answer.json()).toMatchObject({ id: 1, error: { code: -32603 } });
  });

  test("refuses an unknown argument of each tool, with the nearest known one", async () => {
    const { post, operations } = await openApp();
    const resultOf = async (message: object) => {
      const { body } = await post("/mcp", ask({}, { ...list, ...message }));
      return (JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? "") as { result: Listed }).result;
    };
    const { tools = [] } = await resultOf({});
    for (const { name, inputSchema } of tools) {
      const [last = ""] = Object.keys(inputSchema.properties).slice(-1);
      const params = { name, arguments: { [`${last}s`]: "dev" } };
      const { isError, content } = await resultOf({ method: "tools/call", params });
      const problem = `There is no argument "${last}s"; did you mean "${last}"? The arguments are `;
      expect([isError, content?.[0].text]).toEqual([true, expect.stringContaining(problem)]);
    }
    const params = { name: "act", arguments: { action: "pause", agent: "dev" } };
    const { content } = await resultOf({ method: "tools/call", params });
    expect(content?.[0].text).toContain('no argument "agent"; did you mean "target"?');
    expect([tools.length, operations.acts]).toEqual([13, []]);
  });

  test("reaches the routes as the caller, by its address", async () => {
    const { post, operations } = await openApp();
    const params = { name: "act", arguments: { action: "pause", target: "dev" } };
    const call = ask({}, { ...list, method: "tools/call", params });
    await post("/mcp", { ...call, remoteAddress: "10.1.2.3" });
    const by = { via: "key", from: "10.1.2.3" };
    expect(operations.acts).toMatchObject([{ act: "disable", agent: "dev", by }]);
  });
});

interface Listed {
  readonly tools?: readonly {
    readonly name: string;
    readonly inputSchema: { readonly properties: object };
  }[];
  readonly isError?: boolean;
  readonly content?: readonly [{ readonly text: string }];
}
