import { Client, type Transport } from "@modelcontextprotocol/client";
import { mcpLimits } from "../../foundation/contracts/mcp.ts";
import type { McpContent, McpResult, McpTool } from "../../foundation/contracts/mcp.ts";
import { messageOf } from "../../foundation/errors.ts";
import { mcpCall, type McpCall } from "./mcp-call.ts";

interface ClientOptions {
  /** How long a request may take, in ms. */
  readonly timeoutMs: number;
}

/** A connection to an MCP server, within the limits of its answers. All functions reject with an error for a person. */
export interface McpClient {
  tools(): Promise<readonly McpTool[]>;
  call(tool: string, args: ToolArguments, options: CallOptions): Promise<McpResult>;
  close(): Promise<void>;
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

/** Connects to a server of the current protocol revision or of the ones before. */
export async function connectMcp(
  transport: Transport,
  { timeoutMs }: ClientOptions,
): Promise<McpClient> {
  const client = new Client(
    { name: "almanac", version: "1" },
    {
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(timeoutMs, 10_000) } },
      jsonSchemaValidator: noValidation,
      listMaxPages: mcpLimits.pages,
    },
  );
  const within = async <T>(ask: (signal: AbortSignal) => Promise<T>, asked?: AbortSignal) => {
    const late = AbortSignal.timeout(timeoutMs);
    const signal = asked === undefined ? late : AbortSignal.any([late, asked]);
    const made: McpCall = { signal, problem: null };
    const overdue = Promise.withResolvers<never>();
    const stop = (): void => overdue.reject(new Error(`no answer within ${timeoutMs / 1000} s`));
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await Promise.race([mcpCall.run(made, ask, signal), overdue.promise]);
    } catch (error) {
      // A server may answer an error of any length.
      throw new Error((made.problem ?? messageOf(error)).slice(0, 2_000), { cause: error });
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };
  const timeout = timeoutMs + 1_000;
  try {
    await within((signal) => client.connect(transport, { signal, timeout }));
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
  return {
    tools: async () => {
      const { tools } = await within((signal) => client.listTools(undefined, { signal, timeout }));
      assertFlat(tools);
      return tools.map(({ name, description = "", inputSchema }) => {
        return { name, description, inputSchema };
      });
    },
    call: async (name, args, { signal: asked, traceparent }) => {
      const meta = traceparent === undefined ? {} : { _meta: { traceparent } };
      const params = { name, arguments: { ...args }, ...meta };
      const result = await within((signal) => client.callTool(params, { signal, timeout }), asked);
      assertFlat(result);
      const { content, structuredContent, isError = false } = result;
      return { content: contentOf(content, structuredContent), isError };
    },
    close: () => client.close(),
  };
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
  if (depth > mcpLimits.depth) throw new Error(`values nested more than ${mcpLimits.depth} deep`);
  if (typeof value !== "object" || value === null) return;
  for (const key in value) assertFlat(value[key as keyof typeof value], depth + 1);
}
