import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Job } from "../../../foundation/contracts/job.ts";
import { allowsTool, mcpCallLine, mcpLimits } from "../../../foundation/contracts/mcp.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { connectMcp, type McpClient } from "../../run-api/mcp/mcp-client.ts";
import { logTo, type Emit } from "../harness.ts";
import type { Answer, RunRequests } from "../run-api/run-requests.ts";

type JobServer = NonNullable<Job["mcp"]>[number];
type Env = Readonly<Record<string, string>>;

interface RunMcpDeps {
  /** Performs requests at the scheduler. */
  readonly requests: RunRequests;
  readonly emit: Emit;
  readonly workDir: string;
}

interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * Performs the requests about MCP servers: those with a command run beside the agent, and are started by their first
 * request; the scheduler calls all others. Disposal ends their programs.
 */
export function createRunMcp(
  servers: readonly JobServer[],
  { requests, emit, workDir }: RunMcpDeps,
) {
  const env = Promise.withResolvers<Env>();
  const starting = new Map<string, Promise<McpClient>>();
  const clientOf = (server: JobServer): Promise<McpClient> => {
    const known = starting.get(server.name);
    if (known !== undefined) return known;
    const opening = env.promise.then((variables) => startServer(server, variables, workDir));
    starting.set(server.name, opening);
    opening.catch(() => starting.delete(server.name));
    return opening;
  };
  const tools = async (server: JobServer, signal: AbortSignal): Promise<Answer> => {
    try {
      const all = await (await clientOf(server)).tools();
      const found = all.filter(({ name }) => allowsTool(server.tools, name));
      return await requests.perform("mcp-tools", { server: server.name, found }, signal);
    } catch (error) {
      const problem = messageOf(error);
      const fields = { server: server.name, error: problem };
      logTo(emit, "mcp", 40, `the MCP server ${server.name} can't be used: ${problem}`, fields);
      return { ok: true, tools: [], problem };
    }
  };
  const call = async (server: JobServer, asked: ToolCall, signal: AbortSignal): Promise<Answer> => {
    await requests.perform("mcp-allow", asked, signal);
    const begun = performance.now();
    const traceparent = (await env.promise).TRACEPARENT;
    const result = await clientOf(server)
      .then((client) => client.call(asked.tool, asked.arguments, { signal, traceparent }))
      .catch((error: unknown) => {
        const text = `the MCP server ${server.name} failed: ${messageOf(error)}`;
        return { content: [{ type: "text", text }], isError: true };
      });
    const { level, msg, fields } = mcpCallLine(asked, result, performance.now() - begun);
    logTo(emit, "mcp", level, msg, fields);
    return { ok: true, ...result };
  };
  return {
    requests: {
      perform: async (name, input, signal) => {
        const asked = input as ToolCall | null;
        const server = servers.find((one) => one.name === asked?.server && one.command !== null);
        if (server !== undefined && name === "mcp-tools") return tools(server, signal);
        if (server !== undefined && name === "mcp-call" && asked !== null) {
          return call(server, asked, signal);
        }
        if (name !== "mcp-call") return requests.perform(name, input, signal);
        const { TRACEPARENT: traceparent } = await env.promise;
        return requests.perform(name, { ...asked, traceparent }, signal);
      },
    } satisfies RunRequests,
    /** The variables of the agent's commands are known: its servers may start. */
    start: (variables: Env): void => env.resolve(variables),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      const open = await Promise.allSettled(starting.values());
      const clients = open.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      await Promise.allSettled(clients.map((client) => client.close()));
    },
  };
}

/** A subclass: the SDK tries the protocol's revisions on its own class by a second process. */
class ServerProcess extends StdioClientTransport {}

/** How much of a program's last errors is said, in characters. */
const shownErrors = 500;

async function startServer(
  { command, timeoutSeconds }: JobServer,
  env: Env,
  cwd: string,
): Promise<McpClient> {
  const [program = "", ...args] = command ?? [];
  const transport = new ServerProcess({
    command: program,
    args,
    env: { ...env },
    cwd,
    stderr: "pipe",
    maxBufferSize: mcpLimits.answerBytes,
  });
  let errors = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-shownErrors);
  });
  try {
    return await connectMcp(transport, { timeoutMs: timeoutSeconds * 1000 });
  } catch (error) {
    const lines = errors.trim();
    throw new Error(`${messageOf(error)}${lines === "" ? "" : `: ${lines}`}`, { cause: error });
  }
}
