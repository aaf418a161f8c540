import type { Answer } from "../../../../src/runtime/harness/run-api/run-requests.ts";
import { mcpTools } from "../../../../src/runtime/harness/pi/mcp-tools.ts";

const server = { name: "hub", command: null, tools: ["*"], timeoutSeconds: 60 };
const tool = { name: "draw", description: "Draws.", inputSchema: {} };
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

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
