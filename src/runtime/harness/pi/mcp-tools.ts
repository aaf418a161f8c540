import { createHash } from "node:crypto";
import { defineTool, type ExtensionFactory } from "@earendil-works/pi-coding-agent";
import type { Job } from "../../../foundation/contracts/job.ts";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import type { McpContent, McpTool } from "../../../foundation/contracts/mcp.ts";
import { logTo, type Session } from "../harness.ts";
import { refusedAnswer } from "../run-api/run-requests.ts";

type Servers = NonNullable<Job["mcp"]>;
type Context = Pick<Session, "requests" | "emit" | "signal">;

/** The names of all tools that the agent's MCP servers may have, as patterns of pi. */
export const mcpToolNames = (servers: Servers) => servers.map(({ name }) => `${name}__*`);

/**
 * Registers the tools of the agent's MCP servers, named `server__tool`, and after each turn those of the servers whose
 * tools have changed. A server that can't be used has none, or those that it had.
 */
export async function mcpExtension(servers: Servers, context: Context): Promise<ExtensionFactory> {
  const lists = new Map<string, readonly McpTool[]>();
  const read = async (names: readonly string[]) => {
    const found = await Promise.all(names.map((name) => toolsOf(name, context)));
    for (const [at, name] of names.entries()) lists.set(name, found[at] ?? lists.get(name) ?? []);
  };
  await read(servers.map(({ name }) => name));
  const nameOf = createNames();
  return (pi) => {
    const registered = new Map<string, string>();
    /** Returns the names of all tools. */
    const register = () =>
      [...lists].flatMap(([server, tools]) =>
        tools.map((tool) => {
          const name = nameOf(server, tool.name);
          const definition = JSON.stringify(tool);
          if (registered.get(name) !== definition)
            pi.registerTool(piTool(name, server, tool, context.requests));
          registered.set(name, definition);
          return name;
        }),
      );
    register();
    pi.on("turn_end", async () => {
      const { requests, signal } = context;
      const asked = requests.perform("mcp-changes", {}, signal);
      const { servers: changed } = await asked.catch(refusedAnswer);
      if (!Array.isArray(changed) || changed.length === 0) return;
      await read(changed as string[]);
      const names = register();
      const others = pi.getActiveTools().filter((name) => !registered.has(name));
      pi.setActiveTools([...others, ...names]);
    });
  };
}

/** The most characters of a tool's name that all providers take. */
const longestName = 64;

/**
 * Names tools for models, each by one name as long as the run lasts. A name that is too long, or that another tool has, ends
 * with a hash.
 */
function createNames() {
  const owners = new Map<string, string>();
  return (server: string, tool: string): string => {
    const owner = `${server}.${tool}`;
    // Providers refuse dots and slashes.
    const usual = `${server}__${tool.replaceAll(/[./]/g, "_")}`;
    const isFree = (owners.get(usual) ?? owner) === owner && usual.length <= longestName;
    const hash = createHash("sha256").update(tool).digest("hex").slice(0, 8);
    const name = isFree ? usual : `${usual.slice(0, longestName - 9)}_${hash}`;
    owners.set(name, owner);
    return name;
  };
}

/** Null if they can't be read. */
async function toolsOf(server: string, { requests, emit, signal }: Context) {
  const answer = await requests.perform("mcp-tools", { server }, signal).catch(refusedAnswer);
  if (answer.ok !== true) {
    logTo(emit, "mcp", 40, `the MCP server ${server} can't be used: ${String(answer.detail)}`);
    return null;
  }
  return answer.problem === null ? (answer.tools as readonly McpTool[]) : null;
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
  const schema = complete({ ...inputSchema, type: "object" }) as { type: "object" };
  const checked = checkable(schema) as typeof schema;
  return JSON.stringify(checked) === JSON.stringify(schema)
    ? schema
    : { ...checked, toJSON: () => schema };
}

/** A schema with the parts that OpenAI and others require: without them each request of the run would be refused. */
function complete(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((one) => complete(one));
  if (value === true && key === "items") return {};
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).map(([name, part]: [string, unknown]) => {
    if (part === true && key === "properties") return [name, {}];
    return [name, dataKeys.has(name) && key !== "properties" ? part : complete(part, name)];
  });
  const schema = Object.fromEntries(entries) as Record<string, unknown>;
  const types = [schema.type].flat();
  if (types.includes("object") && !isPlainObject(schema.properties)) schema.properties = {};
  if (types.includes("array") && !("items" in schema)) schema.items = {};
  return schema;
}

/** The parts of a schema that are values. */
const dataKeys: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);

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
