import { defineTool } from "@earendil-works/pi-coding-agent";
import type { Job } from "../../../foundation/contracts/job.ts";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import { modelToolName, type McpContent, type McpTool } from "../../../foundation/contracts/mcp.ts";
import { logTo, type Session } from "../harness.ts";
import { refusedAnswer } from "../run-api/run-requests.ts";

type Servers = NonNullable<Job["mcp"]>;
type Context = Pick<Session, "requests" | "emit" | "signal">;

/** The tools of the agent's MCP servers for pi, named `server__tool`. A server that can't be used has none. */
export async function mcpTools(servers: Servers, context: Context) {
  const lists = await Promise.all(servers.map(({ name }) => toolsOf(name, context)));
  const taken = new Map<string, ReturnType<typeof piTool>>();
  for (const [server, tool] of lists.flat()) {
    const name = modelToolName(server, tool.name);
    const isFree = name !== null && !taken.has(name);
    if (isFree) taken.set(name, piTool(name, server, tool, context.requests));
    else {
      const why = name === null ? "the name is too long" : `another tool is ${name}, too`;
      logTo(context.emit, "mcp", 40, `models can't call ${server}.${tool.name}: ${why}`);
    }
  }
  return [...taken.values()];
}

async function toolsOf(server: string, { requests, emit, signal }: Context) {
  const answer = await requests.perform("mcp-tools", { server }, signal).catch(refusedAnswer);
  if (answer.ok !== true) {
    logTo(emit, "mcp", 40, `the MCP server ${server} can't be used: ${String(answer.detail)}`);
    return [];
  }
  return (answer.tools as readonly McpTool[]).map((tool) => [server, tool] as const);
}

function piTool(name: string, server: string, tool: McpTool, requests: Session["requests"]) {
  return defineTool({
    name,
    label: name,
    description: tool.description,
    parameters: parametersOf(tool),
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

/** The model reads the whole schema; pi checks arguments by what JavaScript can check, and the server by the rest. */
function parametersOf({ inputSchema }: McpTool) {
  const schema = { ...inputSchema, type: "object" };
  const checked = checkable(schema) as typeof schema;
  return JSON.stringify(checked) === JSON.stringify(schema)
    ? schema
    : { ...checked, toJSON: () => schema };
}

/** A schema without patterns of other dialects, such as Python's `(?i)`. */
function checkable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(checkable);
  if (typeof value !== "object" || value === null) return value;
  const { patternProperties } = value as { readonly patternProperties?: unknown };
  const patterns = isPlainObject(patternProperties) ? Object.keys(patternProperties) : [];
  const isLoose = !patterns.every(isPattern);
  const left = isLoose ? ["patternProperties", "additionalProperties"] : [];
  const kept = Object.entries(value).filter(
    ([key, part]: [string, unknown]) =>
      !left.includes(key) && (key !== "pattern" || typeof part !== "string" || isPattern(part)),
  );
  return Object.fromEntries(kept.map(([key, part]) => [key, checkable(part)]));
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
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
