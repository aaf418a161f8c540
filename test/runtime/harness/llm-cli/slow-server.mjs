/** An MCP server over standard input and output that needs 5 s to start. */
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

await pause(5_000);
const tool = { name: "slow_note", description: "a note", inputSchema: { type: "object" } };
for await (const line of createInterface(process.stdin)) {
  const { id, method, params } = JSON.parse(line);
  const results = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "slow", version: "1" },
    },
    "tools/list": { tools: [tool] },
    "tools/call": { content: [{ type: "text", text: "note-9f1c" }] },
  };
  const known = results[method];
  const answer = known ? { result: known } : { error: { code: -32601, message: "unknown" } };
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
