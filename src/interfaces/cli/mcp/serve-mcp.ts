import { finished } from "node:stream/promises";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { ApiCall } from "../../mcp/api-call.ts";
import { createMcpServer } from "../../mcp/mcp-server.ts";
import type { Context } from "../context.ts";
import { connect } from "../operator/connect.ts";

/** Serves MCP on standard input and output until its client closes the input. */
export async function serveMcp(context: Context): Promise<void> {
  // Connects for each request: the scheduler may start later, or again.
  const call: ApiCall = async ({ method, path, body, headers = {} }) => {
    const client = await connect(context);
    return method === "GET" ? client.get(path) : client.post(path, body, { headers });
  };
  serveStdio(() => createMcpServer(call), { onerror: (error) => context.out.note(error.message) });
  await finished(process.stdin, { writable: false }).catch(() => undefined);
}
