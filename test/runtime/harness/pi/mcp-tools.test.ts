import { validateToolArguments } from "@earendil-works/pi-ai";
import type { McpTool } from "../../../../src/foundation/contracts/mcp.ts";
import type { RunMessage } from "../../../../src/runtime/wire/run-messages.ts";
import type { Answer } from "../../../../src/runtime/harness/run-api/run-requests.ts";
import { mcpTools } from "../../../../src/runtime/harness/pi/mcp-tools.ts";

const server = { name: "hub", command: null, tools: ["*"], timeoutSeconds: 60 };
const tool = { name: "draw", description: "Draws.", inputSchema: {} };
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** The tools that pi gets of a server, and what is logged. */
async function taken(tools: readonly McpTool[]) {
  const logs: string[] = [];
  const perform = (): Promise<Answer> => Promise.resolve({ ok: true, tools });
  const emit = (message: RunMessage) => void ("msg" in message && logs.push(message.msg));
  const { signal } = new AbortController();
  return { logs, tools: await mcpTools([server], { requests: { perform }, emit, signal }) };
}

test("an MCP tool with a slash in its name can be called; of two with one name for models the second is left out", async () => {
  const named = (name: string) => ({ ...tool, name });
  const { logs, tools } = await taken(["repo/create", "a.b", "a_b"].map(named));
  expect(tools.map(({ name }) => name)).toEqual(["hub__repo_create", "hub__a_b"]);
  expect(logs).toEqual(["models can't call hub.a_b: another tool is hub__a_b, too"]);
});

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
  const perform = (name: string): Promise<Answer> =>
    Promise.resolve({ ok: true, ...(name === "mcp-tools" ? { tools: [tool] } : { content }) });
  const { signal } = new AbortController();
  const [draw] = await mcpTools([server], { requests: { perform }, emit: () => undefined, signal });
  const result = await draw?.execute("1", {}, signal, undefined, {} as never);
  expect(result?.content).toEqual([
    { type: "image", data: png, mimeType: "image/png" },
    { type: "text", text: "[an image of the type image/svg+xml, which models can't see]" },
    { type: "text", text: "[an image of the type image/png, which models can't see]" },
  ]);
});
