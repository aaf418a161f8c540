import type { McpServer } from "../../../../streams/agent-config.ts";
import { allowsTool } from "../../../foundation/contracts/mcp.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { createMcpConnect } from "../../../runtime/runs/connect-mcp.ts";
import { enabledAgents } from "../doctor-context.ts";
import { finding, ok, type Check, type Finding } from "../finding.ts";

type Connect = ReturnType<typeof createMcpConnect>;

/** How long a server may take, in seconds: a person waits. */
const longestSeconds = 10;

/** Whether MCP servers with a URL answer, and have the tools that agents name. Programs start inside runs only. */
export const mcp: Check = (context) => {
  const credential = (reference: string) => loadCredential(context.home, reference);
  const connect = createMcpConnect({ env: context.env, credential }, () => null);
  const servers = enabledAgents(context).flatMap((agent) =>
    agent.mcp.flatMap((server) => (server.url === null ? [] : [{ agent: agent.name, server }])),
  );
  return Promise.all(servers.map(({ agent, server }) => inspect(agent, server, connect)));
};

async function inspect(agent: string, server: McpServer, connect: Connect): Promise<Finding> {
  const { name, tools: patterns } = server;
  const where = `agents/${agent}/config.toml [[mcp]] ${name}`;
  const over = new AbortController();
  const timeoutSeconds = Math.min(server.timeoutSeconds, longestSeconds);
  try {
    const run = { instanceId: "doctor", signal: over.signal };
    const client = await connect({ ...server, timeoutSeconds }, run);
    const { tools } = await client.tools();
    await client.close();
    const unmet = patterns.filter((one) => !tools.some((tool) => allowsTool([one], tool.name)));
    if (unmet.length === 0) return ok(`the MCP server ${name} has the tools that ${agent} lists`);
    const text = `the MCP server ${name} has no tool ${unmet.join(", ")}`;
    return finding("warning", text, where, "correct these names in tools, or remove them");
  } catch (error) {
    const text = `the MCP server ${name} can't be used: ${messageOf(error)}`;
    return finding("error", text, where, "runs start without its tools until it answers");
  } finally {
    over.abort();
  }
}
