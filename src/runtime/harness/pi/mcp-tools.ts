import { defineTool } from "@earendil-works/pi-coding-agent";
import type { Job } from "../../../foundation/contracts/job.ts";
import { modelToolName, type McpContent, type McpTool } from "../../../foundation/contracts/mcp.ts";
import { logTo, type Session } from "../harness.ts";
import { refusedAnswer } from "../run-api/run-requests.ts";

type Servers = NonNullable<Job["mcp"]>;
type Context = Pick<Session, "requests" | "emit" | "signal">;

/** The tools of the agent's MCP servers for pi, named `server__tool`. A server that can't be used has none. */
export async function mcpTools(servers: Servers, context: Context) {
  const lists = await Promise.all(servers.map(({ name }) => toolsOf(name, context)));
  const byName = new Map(lists.flat().map((tool) => [tool.name, tool]));
  return [...byName.values()];
}

async function toolsOf(server: string, { requests, emit, signal }: Context) {
  const answer = await requests.perform("mcp-tools", { server }, signal).catch(refusedAnswer);
  if (answer.ok !== true) {
    logTo(emit, "mcp", 40, `the MCP server ${server} can't be used: ${String(answer.detail)}`);
    return [];
  }
  return (answer.tools as readonly McpTool[]).flatMap((tool) => {
    const name = modelToolName(server, tool.name);
    if (name !== null) return [piTool(name, server, tool, requests)];
    logTo(emit, "mcp", 40, `models can't call ${server}.${tool.name}: the name is too long`);
    return [];
  });
}

function piTool(name: string, server: string, tool: McpTool, requests: Session["requests"]) {
  return defineTool({
    name,
    label: name,
    description: tool.description,
    parameters: { ...tool.inputSchema, type: "object" },
    execute: async (_id, input, signal = neverAborted) => {
      const body = { server, tool: tool.name, arguments: input };
      const answer = await requests.perform("mcp-call", body, signal).catch(refusedAnswer);
      if (answer.ok !== true) throw new Error(JSON.stringify(answer));
      const content = (answer.content as readonly McpContent[]).map(shown);
      if (answer.isError === true) {
        throw new Error(content.map((one) => ("text" in one ? one.text : "[image]")).join("\n"));
      }
      return { content, details: undefined };
    },
  });
}

/**
 * The images that all providers take, by the beginning of their base64. Another one would fail the run: each later request
 * of its session has it.
 */
const pictures = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
] as const;

/** Models read texts and images; other blocks are shown as JSON. */
function shown(block: McpContent) {
  const { type, text, data, mimeType } = block;
  if (type === "text") return { type: "text" as const, text: String(text) };
  if (type === "image" && typeof data === "string") {
    const [, picture] = pictures.find(([start]) => data.startsWith(start)) ?? [];
    if (picture !== undefined) return { type: "image" as const, data, mimeType: picture };
    const named = String(mimeType).slice(0, 100);
    return {
      type: "text" as const,
      text: `[an image of the type ${named}, which models can't see]`,
    };
  }
  return { type: "text" as const, text: JSON.stringify(block) };
}

const neverAborted = new AbortController().signal;
