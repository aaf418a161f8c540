import { McpServer } from "mcp-sdk-v1/server/mcp.js";
import { StdioServerTransport } from "mcp-sdk-v1/server/stdio.js";
import { pause } from "../helpers/pause.ts";

const text = async (text: string) => {
  await pause(100, "over HTTP the notification comes by another stream than the answer");
  return { content: [{ type: "text" as const, text }] };
};

/** The tool `grow` adds `grown` and `more`; `grown` removes `grow`. */
export function growingServer(): McpServer {
  const server = new McpServer({ name: "growing", version: "1" });
  const grow = server.registerTool("grow", {}, () => {
    server.registerTool("grown", {}, () => {
      grow.remove();
      return text("shrunk");
    });
    server.registerTool("more", {}, () => text("more"));
    return text("grew");
  });
  return server;
}

if (import.meta.main) await growingServer().connect(new StdioServerTransport());
