import { Client as Client2 } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "mcp-sdk-v1/client/index.js";
import { StdioClientTransport as Stdio1 } from "mcp-sdk-v1/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "mcp-sdk-v1/client/streamableHttp.js";
import type { LiveProject } from "../helpers/live-project.ts";
import { builtAl } from "../helpers/scheduler.ts";

/** An answer of a tool, as both revisions have it. */
export interface ToolAnswer {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** What the tests use of a client of either revision. */
export interface McpClient {
  readonly version: () => string | undefined;
  readonly tools: () => Promise<readonly ListedTool[]>;
  readonly call: (name: string, input?: object, onProgress?: () => void) => Promise<ToolAnswer>;
  readonly close: () => Promise<void>;
}

export interface ListedTool {
  readonly name: string;
  readonly inputSchema: object;
  readonly outputSchema?: object | undefined;
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
}

const info = { name: "almanac-test", version: "1.0.0" };
const current = "2026-07-28";

/** The command of `al mcp` as a client starts it. */
const stdioOf = (project: LiveProject) => ({
  command: process.execPath,
  args: [builtAl, "mcp", "--project", project.dir],
  env: { ...(process.env as Record<string, string>), AL_HOME: project.home },
  stderr: "ignore" as const,
});
const urlOf = (project: LiveProject) => new URL(`${project.scheduler.url}/mcp`);
const bearer = (token: string) => ({
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});

type Connect = (project: LiveProject, token?: string) => Promise<McpClient>;

/** The official clients over both transports, by the revision that they speak. */
export const mcpClients: Readonly<Record<string, Connect>> = {
  "HTTP, 2026-07-28": (project, token = project.scheduler.apiKey) =>
    currentClient(new Http2(urlOf(project), bearer(token))),
  "HTTP, 2025": (project, token = project.scheduler.apiKey) =>
    previousClient(new Http1(urlOf(project), bearer(token))),
  "stdio, 2026-07-28": (project) => currentClient(new Stdio2(stdioOf(project))),
  "stdio, 2025": (project) => previousClient(new Stdio1(stdioOf(project))),
};

async function currentClient(transport: Http2 | Stdio2): Promise<McpClient> {
  const client = new Client2(info, { versionNegotiation: { mode: { pin: current } } });
  await client.connect(transport);
  return {
    version: () => client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools,
    call: (name, input, onprogress) =>
      answered(client.callTool({ name, arguments: { ...input } }, onprogress && { onprogress })),
    close: () => client.close(),
  };
}

async function previousClient(transport: Http1 | Stdio1): Promise<McpClient> {
  const client = new Client1(info);
  let version: string | undefined;
  Object.assign(transport, { setProtocolVersion: (given: string) => (version = given) });
  await client.connect(transport);
  return {
    version: () => version,
    tools: async () => (await client.listTools()).tools,
    call: (name, input, onprogress) => {
      const request = { name, arguments: { ...input } };
      return answered(client.callTool(request, undefined, onprogress && { onprogress }));
    },
    close: () => client.close(),
  };
}

const answered = async (call: Promise<unknown>) => (await call) as ToolAnswer;
