import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import type { McpContent } from "../../../foundation/contracts/mcp.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { postJson } from "../../wire/post-json.ts";

interface McpCommandDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly err: (text: string) => void;
}

interface Answer {
  readonly ok?: boolean;
  readonly detail?: string;
  readonly tools?: never[];
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
 * `al-mcp <server>`: an MCP server over standard input and output, for command lines inside a run. It has the tools of
 * one of the agent's MCP servers, and passes their calls to the run. Exit codes: 0 the client ended, 2 wrong arguments.
 */
export async function mcpCommand(
  [server = "", ...more]: readonly string[],
  { env, stdin, stdout, err }: McpCommandDeps,
): Promise<number> {
  const { AL_RUN_SOCKET: socketPath } = env;
  if (server === "" || more.length > 0 || socketPath === undefined) {
    err("usage: al-mcp <server>, inside an agent's run\n");
    return 2;
  }
  const ask = async (request: string, body: object, signal: AbortSignal) => {
    const path = `/${request}`;
    const answer = (await postJson({ socketPath, path, body: { server, ...body }, signal })).body;
    return answer as Answer;
  };
  const handle = serveStdio(
    () => {
      const served = new McpServer({ name: server, version: "1" }, { capabilities: { tools: {} } });
      // The tools' schemas are the server's own, which the high-level API does not take.
      const own = served.server;
      own.setRequestHandler("tools/list", async (_request, { mcpReq }) => {
        const { tools = [] } = await ask("mcp-tools", {}, mcpReq.signal);
        return { tools };
      });
      own.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
        const { name: tool, arguments: args = {} } = params;
        const answer = await ask("mcp-call", { tool, arguments: args }, mcpReq.signal).catch(
          (error: unknown): Answer => ({ ok: false, detail: messageOf(error) }),
        );
        if (answer.ok === true) return { content: [], ...structured(answer), ...answer };
        return { content: [{ type: "text", text: answer.detail ?? "refused" }], isError: true };
      });
      return served;
    },
    { transport: new StdioServerTransport(stdin, stdout) },
  );
  await once(stdin, "close");
  await handle.close();
  return 0;
}
