import { Client, specTypeSchemas, type Transport } from "@modelcontextprotocol/client";
import { mcpLimits } from "../../foundation/contracts/mcp.ts";
import type { McpContent, McpResult, McpTool } from "../../foundation/contracts/mcp.ts";
import { messageOf } from "../../foundation/errors.ts";
import { at, isObject } from "./json.ts";
import { mcpCall, type McpCall } from "./mcp-call.ts";

interface ClientOptions {
  /** How long a request may take, in ms. */
  readonly timeoutMs: number;
  /** The server has other tools than the last list. */
  readonly onToolsChanged?: (() => void) | undefined;
}

/** A connection to an MCP server, within the limits of its answers. All functions reject with an error for a person. */
export interface McpClient {
  tools(): Promise<ToolList>;
  call(tool: string, args: ToolArguments, options: CallOptions): Promise<McpResult>;
  close(): Promise<void>;
}

export interface ToolList {
  readonly tools: readonly McpTool[];
  /** The tools that can't be taken: name and reason of each. */
  readonly omitted: readonly string[];
}

type ToolArguments = Readonly<Record<string, unknown>>;

interface CallOptions {
  readonly signal: AbortSignal;
  readonly traceparent?: string | undefined;
}

/** Never compiles a schema of a server: a compiled one is code. The model reads the result, whatever its form. */
const noValidation = {
  getValidator: () => (data: unknown) => ({ valid: true, data, errorMessage: undefined }) as never,
};

/** However often a server reports progress, in ms: the longest `timeout` of the config. */
const longestCallMs = 3_600_000;

/** Connects to a server of the current protocol revision or of the ones before. */
export async function connectMcp(
  transport: Transport,
  { timeoutMs, onToolsChanged }: ClientOptions,
): Promise<McpClient> {
  const client = new Client(
    { name: "almanac", version: "1" },
    {
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(timeoutMs, 10_000) } },
      jsonSchemaValidator: noValidation,
      listMaxPages: mcpLimits.pages,
    },
  );
  /** A server may report the progress of a call, which begins the time limit anew, up to an hour in all. */
  const within = async <T>(ask: (given: RequestOptions) => Promise<T>, asked?: AbortSignal) => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    const latest = Date.now() + Math.max(timeoutMs, longestCallMs);
    const signal = asked === undefined ? late.signal : AbortSignal.any([late.signal, asked]);
    const made: McpCall = { signal, problem: null, resumed: 0, limits: null };
    const overdue = Promise.withResolvers<never>();
    const stop = (): void => overdue.reject(new Error(`no answer within ${timeoutMs / 1000} s`));
    signal.addEventListener("abort", stop, { once: true });
    const onprogress = (): void => {
      if (Date.now() < latest) timer.refresh();
      else late.abort();
    };
    const ofCall = { onprogress, resetTimeoutOnProgress: true };
    const given = { signal, timeout, ...(asked !== undefined && ofCall) };
    try {
      return await Promise.race([mcpCall.run(made, ask, given), overdue.promise]);
    } catch (error) {
      // A server may answer an error of any length.
      throw new Error((made.problem ?? messageOf(error)).slice(0, 2_000), { cause: error });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      // A server may leave the stream of its answer open.
      late.abort();
    }
  };
  const timeout = timeoutMs + 1_000;
  try {
    await within((given) => client.connect(transport, given));
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
  if (onToolsChanged !== undefined) followTools(client, onToolsChanged);
  const omitted = new Set<string>();
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => receive?.(withValidTools(message, omitted), extra);
  return {
    tools: async () => {
      omitted.clear();
      const { tools } = await within((given) => client.listTools(undefined, given));
      assertFlat(tools);
      const shown = tools.map(({ name, description = "", inputSchema }) => {
        return { name, description, inputSchema };
      });
      return { tools: shown, omitted: [...omitted] };
    },
    call: async (name, args, { signal: asked, traceparent }) => {
      const meta = traceparent === undefined ? {} : { _meta: { traceparent } };
      const params = { name, arguments: { ...args }, ...meta };
      const result = await within((given) => client.callTool(params, given), asked);
      assertFlat(result);
      const { content, structuredContent, isError = false } = result;
      return { content: contentOf(content, structuredContent), isError };
    },
    close: () => client.close(),
  };
}

/** Not by an option of the client: its connection would wait for the subscription. */
function followTools(client: Client, onToolsChanged: () => void): void {
  client.setNotificationHandler("notifications/tools/list_changed", onToolsChanged);
  const { listChanged = false } = client.getServerCapabilities()?.tools ?? {};
  if (!listChanged || client.getProtocolEra() !== "modern") return;
  client.listen({ toolsListChanged: true }).catch(() => undefined);
}

type RequestOptions = NonNullable<Parameters<Client["callTool"]>[1]>;
type Message = Parameters<NonNullable<Transport["onmessage"]>>[0];

/** By the protocol. Other names could hold a text for people. */
const toolName = /^[\w./-]{1,128}$/;

/** Takes the malformed tools out of a list, as the client would refuse all of it, and notes them. A schema without a type is whole. */
function withValidTools<T extends Message>(message: T, omitted: Set<string>): T {
  if (!("result" in message) || !Array.isArray(message.result.tools)) return message;
  const tools = (message.result.tools as unknown[]).map(withType).filter((tool) => {
    const problem = problemOf(tool);
    if (problem !== null) omitted.add(problem);
    return problem === null;
  });
  return { ...message, result: { ...message.result, tools } };
}

function withType(tool: unknown): unknown {
  const schema = at(tool, "inputSchema");
  if (!isObject(tool) || !isObject(schema) || "type" in schema) return tool;
  return { ...tool, inputSchema: { ...schema, type: "object" } };
}

/** Name and reason of a tool that can't be taken; null for a valid one. */
function problemOf(tool: unknown): string | null {
  const name = at(tool, "name");
  const shown =
    typeof name === "string" ? JSON.stringify(name).slice(0, 140) : "one without a name";
  if (typeof name !== "string" || !toolName.test(name)) return `${shown}: its name is not valid`;
  const { issues } = specTypeSchemas.Tool["~standard"].validate(tool) as Validated;
  const [issue] = issues ?? [];
  if (issue === undefined) return null;
  return `${shown}: ${[...(issue.path ?? []), issue.message].join(": ")}`;
}

interface Validated {
  readonly issues?: readonly { readonly path?: readonly unknown[]; readonly message: string }[];
}

/** A server should repeat structured content as text; without it, the model would get nothing. */
function contentOf(content: readonly McpContent[], structured: unknown): readonly McpContent[] {
  if (content.length > 0 || structured === undefined) return cutContent(content);
  return cutContent([{ type: "text", text: JSON.stringify(structured) }]);
}

/** Cuts a result to its limit, and says so in it. */
function cutContent(content: readonly McpContent[]): readonly McpContent[] {
  let left: number = mcpLimits.resultBytes;
  const kept: McpContent[] = [];
  for (const block of content) {
    const bytes = jsonBytes(block);
    if (bytes > left) return [...kept, cutBlock(block, left)];
    kept.push(block);
    left -= bytes;
  }
  return kept;
}

/** Only a text can be cut. */
function cutBlock({ type, text }: McpContent, left: number): McpContent {
  let start = type === "text" && typeof text === "string" ? text.slice(0, left) : "";
  while (start !== "" && jsonBytes(start) > left)
    start = start.slice(0, Math.floor(start.length * 0.9));
  const limit = `${mcpLimits.resultBytes / 1024} KiB`;
  // A copy: a slice would keep the whole text in memory.
  const copy = Buffer.from(start).toString();
  return { type: "text", text: `${copy}\n[the result was cut: it is longer than ${limit}]` };
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Throws for values in values so deep that a function that walks through them would fail. */
function assertFlat(value: unknown, depth = 0): void {
  if (depth > mcpLimits.depth)
    throw new Error(`values nested more than ${mcpLimits.depth} levels deep`);
  if (typeof value !== "object" || value === null) return;
  for (const key in value) assertFlat(value[key as keyof typeof value], depth + 1);
}
