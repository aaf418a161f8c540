import { z } from "zod";
import type { McpServer } from "../../../streams/agent-config.ts";
import { allowsTool, defaultCallSeconds, ownMcpServer } from "../contracts/mcp.ts";
import { agentKey, factOf } from "./config-key.ts";
import type { Diagnostics } from "./validate.ts";
import { flag, httpUrl, integer, list, pattern, runCredential, table, text } from "./fields.ts";
import { formatNames } from "./format-value.ts";

const toolsError =
  'a list of the tools that the agent may call, as names or patterns, e.g. ["search", "get_*"]; without a list it has no tool of the server';
const commandError = 'a list of the program and its arguments, e.g. ["mcp-server", "--stdio"]';
const longestCallSeconds = 3_600;

const serverSchema = table({
  name: pattern(
    /^[a-z][a-z0-9-]{0,31}$/,
    'up to 32 lower-case letters, digits and "-", e.g. "github"',
  ).describe("Name of the server. Models see its tools as `<name>__<tool>`."),
  url: httpUrl("an http or https URL without a name and a password in it")
    .optional()
    .describe(
      "Address of a server with the streamable HTTP transport. The scheduler calls it, so runs need no access to the server and never see its credential.",
    ),
  command: list(text(), commandError)
    .min(1, { error: commandError })
    .optional()
    .describe(
      "Program and arguments of a server with the stdio transport. It is started inside the run with the environment, credentials and network of the agent's commands.",
    ),
  tools: list(pattern(/^[\w*./-]{1,128}$/, 'a tool, e.g. "search" or "get_*"'), toolsError)
    .min(1, { error: toolsError })
    .describe("The tools that the agent may call. `*` matches any characters."),
  credential: runCredential()
    .optional()
    .describe(
      "Sent to `url` as `Authorization: Bearer <token>`. If the credential has a field `header`, the token is sent in the header of that name.",
    ),
  private: flag()
    .default(false)
    .describe(
      "Whether `url` may be in a private network. Loopback and cloud metadata addresses are always refused.",
    ),
  timeout: integer("seconds", 1, longestCallSeconds)
    .default(defaultCallSeconds)
    .describe("Maximum duration of a call, and of the server's start."),
});

/** An agent's `[[mcp]]`. */
export const mcpKey = agentKey({
  inFile: "mcp",
  field: list(serverSchema, "tables [[mcp]]")
    .default([])
    .describe(
      "MCP servers whose tools the agent can call, with pi and with LLM command lines. If a server fails, only its tools fail. Changes take effect with the next call of a run.",
    ),
  resolve: (entries): readonly McpServer[] =>
    entries.map(({ url, command, credential, timeout, ...rest }) => ({
      ...rest,
      url: url ?? null,
      command: command ?? null,
      credential: credential ?? null,
      timeoutSeconds: timeout,
    })),
  written: (servers) =>
    servers.map(({ timeoutSeconds, ...rest }) => ({
      ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)),
      timeout: timeoutSeconds,
    })),
  value: z
    .array(
      z.object({
        name: z.string(),
        url: z.string().nullable(),
        command: z.array(z.string()).readonly().nullable(),
        tools: z.array(z.string()).readonly(),
        credential: z.string().nullable(),
        private: z.boolean(),
        timeoutSeconds: z.number(),
      }),
    )
    .readonly(),
  isLong: true,
  facts: (servers) =>
    factOf(
      "MCP servers",
      servers.map(({ name, tools }) => `${name}: ${tools.join(", ")}`),
    ),
});

interface CheckedTable {
  readonly mcp: readonly z.output<typeof serverSchema>[];
  readonly approve?: { readonly tools: readonly string[] } | undefined;
}

/** Reports entries that contradict themselves, and gates of tools that the agent does not have. */
export function checkMcp({ mcp, approve }: CheckedTable, diagnostics: Diagnostics): void {
  for (const [index, entry] of mcp.entries()) {
    const problem = entryProblem(entry, mcp.slice(0, index));
    if (problem !== null) diagnostics.error(["mcp", index], `mcp[${index}] ${problem}`);
  }
  for (const [index, held] of (approve?.tools ?? []).entries()) {
    const [server = "", tool = ""] = held.split(/\.(.*)/s);
    const found = mcp.find(({ name }) => name === server);
    if (found !== undefined && mayMeet(found.tools, tool)) continue;
    const names = mcp.map(({ name }) => name);
    const known = names.length === 0 ? "there is no [[mcp]]" : `known are ${formatNames(names)}`;
    const why = found === undefined ? known : `tools of [[mcp]] ${server} does not name it`;
    diagnostics.warn(["approve", "tools", index], `approve.tools has no effect: ${why}`);
  }
}

function entryProblem(
  { name, url, command, credential, private: isPrivate }: CheckedTable["mcp"][number],
  before: CheckedTable["mcp"],
): string | null {
  if (name === ownMcpServer) return `has the name of the run's own server, "${name}"`;
  if (before.some((other) => other.name === name)) return `has the name of another, "${name}"`;
  if ((url === undefined) === (command === undefined)) return "needs either url or command";
  if (command !== undefined && (credential !== undefined || isPrivate)) {
    return "has a command, which gets the agent's own credentials and network; credential and private apply to a url only";
  }
  if (credential === undefined || url?.startsWith("https:") === true || isPrivate) return null;
  return "would send its credential unencrypted; use https, or private = true inside your own network";
}

/** Whether a held tool, or pattern of tools, may be one that the agent has. */
function mayMeet(tools: readonly string[], held: string): boolean {
  return held.includes("*") || tools.some((tool) => tool.includes("*")) || allowsTool(tools, held);
}
