/** The name of the MCP server that has the requests of the run itself, for command lines. */
export const ownMcpServer = "almanac";

/** How long one call of a tool may take by default. */
export const defaultCallSeconds = 60;

/** Limits of one answer of an MCP server. An answer beyond them fails the call that it belongs to. */
export const mcpLimits = {
  /** The longest answer over HTTP, or line of a program, in bytes. */
  answerBytes: 4 * 1024 * 1024,
  /** The values of an answer over HTTP, as `JsonSize` counts them. */
  answerValues: 200_000,
  /** The limit over all lists of tools that one connection reads: the client keeps them. */
  listBytes: 1024 * 1024,
  listValues: 100_000,
  /** The result that a model gets of it, in bytes of JSON; longer ones are cut. */
  resultBytes: 256 * 1024,
  /** The definitions of all allowed tools of a server together, in bytes of JSON. */
  definitionsBytes: 192 * 1024,
  /** The tools of one server that an agent remembers. */
  known: 2_000,
  /** Values in values. */
  depth: 64,
  /** Pages of a list of tools. */
  pages: 10,
} as const;

/** A tool of an MCP server, as models see it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A block of a result: `{ type: "text", text }`, or another type of the protocol. */
export type McpContent = Readonly<Record<string, unknown>> & { readonly type: string };

export interface McpResult {
  readonly content: readonly McpContent[];
  readonly isError: boolean;
}

/** Whether a list of names and patterns (word characters, dots, hyphens) has the tool; `*` stands for any characters. */
export function allowsTool(patterns: readonly string[], tool: string): boolean {
  return patterns.some((pattern) => {
    const form = pattern.replaceAll(".", "\\.").replaceAll("*", ".*");
    return new RegExp(`^${form}$`, "s").test(tool);
  });
}

/** The log line of a tool that is left out, by its name and the reason. */
export function omittedTool(server: string, text: string): string {
  return `the MCP server ${server} has a tool that can't be used and is left out: ${text}`;
}

/** How much of an error the log has, in characters. */
const loggedError = 500;

/** The log line of a call. */
export function mcpCallLine(
  { server, tool }: { readonly server: string; readonly tool: string },
  { content, isError }: McpResult,
  ms: number,
) {
  const bytes = Buffer.byteLength(JSON.stringify(content));
  const durationMs = Math.round(ms);
  const text = `MCP ${server}.${tool}: ${isError ? "failed" : "done"} after ${durationMs} ms, ${bytes} bytes`;
  const fields = { server, tool, durationMs, bytes };
  if (!isError) return { level: 30, msg: text, fields } as const;
  const first = content[0]?.text;
  const error = typeof first === "string" ? first.slice(0, loggedError) : "";
  return { level: 40, msg: `${text}: ${error}`, fields: { ...fields, error } } as const;
}
