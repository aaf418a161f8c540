import { once } from "node:events";
import type { PipeDeps } from "../commands/connect-command.ts";
import { McpServer, type CallToolResult } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { ownMcpServer, type McpContent } from "../../../foundation/contracts/mcp.ts";
import { allTools } from "../tools.ts";
import { postJson } from "../../wire/post-json.ts";

type Ask = (request: string, body: object, signal: AbortSignal) => Promise<Answer>;

/** The tools of one of the agent's MCP servers. */
function serverTools(server: string, ask: Ask) {
  return {
    list: async (signal: AbortSignal): Promise<readonly object[]> =>
      (await ask("mcp-tools", { server }, signal)).tools ?? [],
    call: async (tool: string, args: object, signal: AbortSignal): Promise<CallToolResult> => {
      const answer = await ask("mcp-call", { server, tool, arguments: args }, signal);
      if (answer.ok !== true) return refused(answer.detail);
      return { content: [], ...structured(answer), ...answer };
    },
  };
}

/** The requests of the run itself. */
function ownTools(ask: Ask) {
  const tools = allTools();
  return {
    list: (): Promise<readonly object[]> =>
      Promise.resolve(
        tools.map(({ name, description, parameters }) => {
          return { name, description, inputSchema: { ...parameters, type: "object" } };
        }),
      ),
    call: async (name: string, args: object, signal: AbortSignal): Promise<CallToolResult> => {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) return refused(`there is no tool ${name}`);
      const answer = await ask(tool.request, args, signal);
      const text = JSON.stringify(answer);
      return { content: [{ type: "text", text }], isError: answer.ok !== true };
    },
  };
}

function refused(text = "refused"): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

interface Answer {
  readonly ok?: boolean;
  readonly detail?: string;
  readonly tools?: readonly object[];
  readonly content?: never[];
}

/** A text that is a JSON value, but no object: gemini takes it for an error, unless it is there as structured content, too. */
function structured({ content = [] }: Answer) {
  const [only, ...more] = content as readonly McpContent[];
  if (typeof only?.text !== "string" || more.length > 0) return {};
  try {
    const result: unknown = JSON.parse(only.text);
    return isPlainObject(result) ? {} : { structuredContent: { result } };
  } catch {
    return {};
  }
}

/**
 * `al-mcp [<server>]`: an MCP server over standard input and output, for command lines inside a run. It has the tools of
 * one of the agent's MCP servers, without a name the requests of the run itself, and passes their calls to the run. Exit
 * codes: 0 the client ended, 2 wrong arguments.
 */
export async function mcpCommand(
  [server, ...more]: readonly string[],
  { env, stdin, stdout, err }: PipeDeps,
): Promise<number> {
  const { AL_RUN_SOCKET: socketPath } = env;
  if (more.length > 0 || socketPath === undefined) {
    err("usage: al-mcp [<server>], inside an agent's run\n");
    return 2;
  }
  const ask = async (request: string, body: object, signal: AbortSignal) =>
    (await postJson({ socketPath, path: `/${request}`, body, signal })).body as Answer;
  const { list, call } = server === undefined ? ownTools(ask) : serverTools(server, ask);
  const handle = serveStdio(
    () => {
      const served = new McpServer(
        { name: server ?? ownMcpServer, version: "1" },
        { capabilities: { tools: {} } },
      );
      // The tools' schemas are the server's own, which the high-level API does not take.
      const own = served.server;
      own.setRequestHandler("tools/list", async (_request, { mcpReq }) => {
        return { tools: (await list(mcpReq.signal)) as never[] };
      });
      own.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
        const { name, arguments: args = {} } = params;
        return call(name, args, mcpReq.signal).catch((error: unknown) => refused(messageOf(error)));
      });
      return served;
    },
    { transport: new StdioServerTransport(stdin, stdout) },
  );
  await once(stdin, "close");
  await handle.close();
  return 0;
}
