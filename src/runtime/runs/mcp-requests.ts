import type { McpServer } from "../../../streams/agent-config.ts";
import type { McpStore } from "../../features/mcp/mcp-store.ts";
import { mcpCallLine } from "../../foundation/contracts/mcp.ts";
import type { McpResult, McpTool } from "../../foundation/contracts/mcp.ts";
import { messageOf } from "../../foundation/errors.ts";
import { refusal, type RunApiRequest } from "../wire/protocol.ts";
import type { Gates } from "./gates.ts";
import type { LiveRun, Performers, RunMcpServer } from "./live-run.ts";
import { createMcpServers, hashOf, servedTool } from "./mcp-servers.ts";
import type { RequestContext } from "./request-context.ts";

/** A failed call is an answer for the model, never an error of the run. */
function failed(server: string, error: unknown): McpResult {
  const text = `the MCP server ${server} failed: ${messageOf(error)}`;
  return { content: [{ type: "text", text }], isError: true };
}

/** The tools of MCP servers: the allowed ones, as the agent knows them, and their calls. */
export function createMcpRequests(context: RequestContext, gates: Gates) {
  const { mcp: store, configOf, clock, redact, redactValue, questions } = context;
  const { open, list } = createMcpServers(context, gates);

  /** By the current config. Throws a Problem. */
  const serverOf = (run: LiveRun, name: string): McpServer => {
    const { mcp } = configOf(run.agent) ?? run.request.agent;
    const found = mcp.find((server) => server.name === name);
    if (found !== undefined) return found;
    throw refusal("malformed", `This agent has no MCP server ${JSON.stringify(name)}.`);
  };
  /** Throws a Problem if the agent does not have the tool, or a person denied it. */
  const approved = async (
    run: LiveRun,
    { tools }: RunMcpServer,
    { request, signal }: RunApiRequest<"mcp-call" | "mcp-allow">,
  ): Promise<void> => {
    const served = servedTool(serverOf(run, request.server), request.tool);
    const { name } = served;
    const known = tools.get(request.tool);
    if (known === undefined) throw refusal("malformed", `This agent has no tool ${name}.`);
    const { change } = known;
    const held = {
      ...served,
      args: quoted(request.arguments),
      change: change && { hash: hashOf(change), parts: changedParts(known.tool, change) },
    };
    const why = await gates.tool(run, held, signal);
    if (why !== null) throw refusal("not_approved", `This run may not call ${name}: ${why}.`);
    if (change === null) return;
    const subject = `${name} as changed (${hashOf(change)})`;
    if (questions.latest(run.instanceId, "tool", subject)?.answer !== "run") return;
    await store.pin(run.agent, request.server, [change], clock.now());
  };
  /** The server as configured now, once a person allows the call: the config may be edited meanwhile. */
  const callable = async (
    run: LiveRun,
    asked: RunApiRequest<"mcp-call" | "mcp-allow">,
  ): Promise<RunMcpServer | McpResult> => {
    const { server: name } = asked.request;
    const current = async () =>
      open(run, serverOf(run, name)).catch((error: unknown) => failed(name, error));
    for (;;) {
      const server = await current();
      if ("isError" in server) return server;
      await approved(run, server, asked);
      if ((await current()) === server) return server;
    }
  };
  const performers: Performers<"mcp-tools" | "mcp-changes" | "mcp-call" | "mcp-allow"> = {
    "mcp-tools": async (run, { request }) => {
      const server = serverOf(run, request.server);
      try {
        const { tools } = await list(run, server, redactValue(request.found));
        return { ok: true, tools: [...tools.values()].map(({ tool }) => tool), problem: null };
      } catch (error) {
        const problem = redact(messageOf(error)).slice(0, 2_000);
        const fields = { kind: "mcp", server: server.name, error: problem };
        run.warn(`the MCP server ${server.name} can't be used: ${problem}`, fields);
        return { ok: true, tools: [], problem };
      }
    },
    "mcp-changes": ({ changedMcp }) => Promise.resolve({ ok: true, servers: [...changedMcp] }),
    "mcp-call": async (run, request) => {
      const { server: name, tool } = request.request;
      const connected = await callable(run, request);
      if ("isError" in connected) return answerOf(connected, redactValue);
      const begun = performance.now();
      const result = await callOnce(store, connected, request).catch((error: unknown) =>
        failed(name, error),
      );
      const answer = answerOf(result, redactValue);
      const line = mcpCallLine({ server: name, tool }, answer, performance.now() - begun);
      const fields = { kind: "mcp", ...line.fields };
      if (line.level === 40) run.warn(line.msg, fields);
      else run.note(line.msg, fields);
      return answer;
    },
    "mcp-allow": async (run, request) => {
      const server = await callable(run, request);
      if ("isError" in server)
        throw refusal("not_approved", "The MCP server of the tool can't be used.");
      return { ok: true };
    },
  };
  return {
    performers,
    /** The run has ended. */
    end: (run: LiveRun): void => {
      run.mcp.clear();
      store.endRun(run.instanceId).catch((error: unknown) => context.onProblem(messageOf(error)));
    },
  };
}

const unknownOutcome =
  "The scheduler was restarted during this call. Whether it took effect is unknown: check before you repeat it.";

/** A request that is repeated after a crash does not call a tool twice. */
async function callOnce(
  store: McpStore,
  { client }: RunMcpServer,
  { instanceId, request, signal, key }: RunApiRequest<"mcp-call">,
): Promise<McpResult> {
  const { tool, arguments: args, traceparent } = request;
  if (client === null) throw new Error("its program is started by the run, from the next run on");
  if (!(await store.begin(instanceId, key))) throw new Error(unknownOutcome);
  try {
    return await client.call(tool, args, { signal, traceparent });
  } finally {
    // A run whose connection broke repeats the request, also at a later scheduler.
    if (!signal.aborted) await store.end(instanceId, key);
  }
}

/** Without the scheduler's secrets, which a server may repeat. */
function answerOf(result: McpResult, redactValue: RequestContext["redactValue"]) {
  const { content, isError } = redactValue(result);
  return { ok: true as const, content: [...content], isError };
}

/**
 * JSON on one line: no text in it passes for another part. Control characters other than line ends and tabs are not escaped: a
 * secret with one inside would not be found.
 */
const quoted = (value: unknown): string =>
  JSON.stringify(value).replace(/\\(?:u00([01][\da-f])|.)/g, (escape, code?: string) =>
    code === undefined ? escape : String.fromCharCode(Number.parseInt(code, 16)),
  );

function changedParts(before: McpTool, after: McpTool): string[] {
  const parts = [
    ["description", before.description, after.description],
    ["arguments", before.inputSchema, after.inputSchema],
  ] as const;
  return parts.flatMap(([name, old, now]) =>
    quoted(old) === quoted(now) ? [] : `Its ${name} now: ${quoted(now)}`,
  );
}
