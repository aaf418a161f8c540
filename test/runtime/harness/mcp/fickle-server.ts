import { McpServer } from "mcp-sdk-v1/server/mcp.js";
import { StdioServerTransport } from "mcp-sdk-v1/server/stdio.js";

/** A program of the SDK, for tests of how a run treats programs that end and answers that are too long. */
const server = new McpServer({ name: "fickle", version: "1" });
const long = "x".repeat(5 * 1024 * 1024);
const text = (text: string) => ({ content: [{ type: "text" as const, text }] });

server.registerTool("pid", {}, () => text(String(process.pid)));
// The SDK writes the id of an answer last, other servers write it first.
server.registerTool("long", {}, () => text(long));
server.registerTool("long-id-first", {}, ({ requestId }) => {
  const result = JSON.stringify(text(long));
  process.stdout.write(`{"jsonrpc": "2.0", "id": ${requestId}, "result": ${result}}\n`);
  return new Promise<never>(() => undefined);
});
server.registerTool("null", {}, ({ requestId }) => {
  process.stdout.write(`{"jsonrpc": "2.0", "id": ${requestId}, "result": null}\n`);
  return new Promise<never>(() => undefined);
});
server.registerTool("crash", {}, () => {
  process.stderr.write("Traceback: out of luck\n");
  process.exit(3);
});
process.stdout.write("Server started\n");
await server.connect(new StdioServerTransport());
