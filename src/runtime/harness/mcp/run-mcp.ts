import { allowsTool, mcpCallLine, omittedTool } from "../../../foundation/contracts/mcp.ts";
import { messageOf } from "../../../foundation/errors.ts";
import type { McpClient } from "../../wire/mcp-client.ts";
import { logTo, type Emit } from "../harness.ts";
import type { Answer, RunRequests } from "../run-api/run-requests.ts";
import { startProgram, type Env, type JobServer } from "./server-program.ts";

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

/** How often a program that ended is started again in one run. */
const maxRestarts = 3;

/**
 * Performs the requests about MCP servers: those with a command run beside the agent, and are started by their first
 * request, and by the next one after their end; the scheduler calls all others. Disposal ends their programs.
 */
export function createRunMcp(
  servers: readonly JobServer[],
  { requests, emit, workDir }: RunMcpDeps,
) {
  const env = Promise.withResolvers<Env>();
  const starting = new Map<string, Promise<McpClient>>();
  const changed = new Set<string>();
  const ended = new Map<string, { readonly times: number; readonly errors: string }>();
  const clientOf = async (server: JobServer): Promise<McpClient> => {
    const { name } = server;
    const known = starting.get(name);
    if (known !== undefined) return known;
    const { times, errors: last } = ended.get(name) ?? { times: 0, errors: "" };
    const after = last === "" ? "" : `: ${last}`;
    if (times > maxRestarts)
      throw new Error(`its program ended ${times} times in this run${after}`);
    if (times > 0) {
      const again = `the MCP server ${name} ended, and is started again (${times} of ${maxRestarts})`;
      logTo(emit, "mcp", 40, `${again}${after}`, { server: name });
    }
    const onEnd = (errors: string): void => {
      if (starting.get(name) !== opening) return;
      starting.delete(name);
      ended.set(name, { times: times + 1, errors });
    };
    const opening = env.promise.then((variables) =>
      startProgram(server, variables, workDir, {
        onEnd,
        onToolsChanged: () => changed.add(name),
      }),
    );
    starting.set(name, opening);
    return opening;
  };
  const tools = async (server: JobServer, signal: AbortSignal): Promise<Answer> => {
    try {
      const { tools: all, omitted } = await (await clientOf(server)).tools();
      for (const text of omitted) logTo(emit, "mcp", 40, omittedTool(server.name, text));
      const found = all.filter(({ name }) => allowsTool(server.tools, name));
      return await requests.perform("mcp-tools", { server: server.name, found }, signal);
    } catch (error) {
      const problem = messageOf(error);
      const fields = { server: server.name, error: problem };
      logTo(emit, "mcp", 40, `the MCP server ${server.name} can't be used: ${problem}`, fields);
      return { ok: true, tools: [], problem };
    }
  };
  const changes = async (signal: AbortSignal): Promise<Answer> => {
    const own = [...changed];
    changed.clear();
    if (servers.every(({ command }) => command !== null)) return { ok: true, servers: own };
    const { servers: others } = await requests.perform("mcp-changes", {}, signal);
    return { ok: true, servers: [...own, ...(others as readonly string[])] };
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
        if (name === "mcp-changes") return changes(signal);
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
