import { validateToolArguments } from "@earendil-works/pi-ai";
import type { ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { McpTool } from "../../../../src/foundation/contracts/mcp.ts";
import type { Answer } from "../../../../src/runtime/harness/run-api/run-requests.ts";
import { mcpExtension } from "../../../../src/runtime/harness/pi/mcp-tools.ts";

const server = { name: "hub", command: null, tools: ["*"], timeoutSeconds: 60 };
const tool = { name: "draw", description: "Draws.", inputSchema: {} };
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const { signal } = new AbortController();

/** The tools that pi gets of a server with these tools, whose calls have this answer. */
async function taken(tools: readonly McpTool[], answer: Answer = {}, name = "hub") {
  const calls: unknown[] = [];
  const perform = (request: string, body: unknown): Promise<Answer> => {
    if (request === "mcp-call") calls.push(body);
    return Promise.resolve({ ok: true, tools, problem: null, ...answer });
  };
  const context = { requests: { perform }, emit: () => undefined, signal };
  const extension = await mcpExtension([{ ...server, name }], context);
  const taken: ToolDefinition[] = [];
  await extension({
    registerTool: (one: ToolDefinition) => taken.push(one),
    on: () => undefined,
  } as never);
  return { calls, tools: taken };
}

test.each([
  ["hub", ["repo/create", "a.b", "a_b"], ["hub__repo_create", "hub__a_b", "hub__a_b_HASH"]],
  ["hub", ["x/y", "x.y", "x/y.z"], ["hub__x_y", "hub__x_y_HASH", "hub__x_y_z"]],
  [
    "a-server-with-a-name-of-32-chars",
    [`${"t".repeat(49)}1`, `${"t".repeat(49)}2`],
    [1, 2].map(() => `a-server-with-a-name-of-32-chars__${"t".repeat(21)}_HASH`),
  ],
])(
  "each MCP tool of %s can be called by a name of its own, whatever its characters and length: %j",
  async (of, given, names) => {
    const found = await taken(
      given.map((name) => ({ ...tool, name })),
      { content: [] },
      of,
    );
    expect(found.tools.map(({ name }) => name.replace(/_[\da-f]{8}$/, "_HASH"))).toEqual(names);
    expect(new Set(found.tools.map(({ name }) => name)).size).toBe(given.length);
    for (const one of found.tools) {
      expect(one.name).toMatch(/^[\w-]{1,64}$/);
      await one.execute("1", {}, signal, undefined, {} as never);
    }
    expect(found.calls).toEqual(given.map((name) => ({ server: of, tool: name, arguments: {} })));
  },
);

test.each([
  ["pattern", { a: { type: "string", pattern: "(?i)^abc$" } }, { a: "ABC" }],
  ["pattern", { a: { type: "string", pattern: "^\\d+\\Z" } }, { a: "12" }],
  ["pattern of keys that is null", { a: { patternProperties: null } }, { a: { X: 1 } }],
  [
    "pattern of keys",
    { a: { patternProperties: { "(?i)x": {} }, additionalProperties: false } },
    { a: { X: 1 } },
  ],
])(
  "an MCP tool whose schema has a %s of another dialect can be called, and the model sees it whole",
  async (_what, properties, args) => {
    const inputSchema = { type: "object", properties };
    const [taking] = (await taken([{ ...tool, inputSchema }])).tools;
    const parameters = taking?.parameters as object;
    expect(JSON.parse(JSON.stringify(parameters))).toEqual(inputSchema);
    const called = { type: "toolCall", id: "1", name: "draw", arguments: args } as const;
    expect(validateToolArguments({ ...tool, parameters }, called)).toEqual(args);
  },
);

test("an MCP tool's image gets its real MIME type, or is replaced by a text if models can't read it", async () => {
  const content = [
    { type: "image", data: png, mimeType: "image/svg+xml" },
    { type: "image", data: "PHN2Zz4=", mimeType: "image/svg+xml" },
    { type: "image", data: "PHN2Zz4=", mimeType: "image/png" },
  ];
  const [draw] = (await taken([tool], { content })).tools;
  const result = await draw?.execute("1", {}, signal, undefined, {} as never);
  expect(result?.content).toEqual([
    { type: "image", data: png, mimeType: "image/png" },
    { type: "text", text: "[an image of the type image/svg+xml, which models can't see]" },
    { type: "text", text: "[an image of the type image/png, which models can't see]" },
  ]);
});
