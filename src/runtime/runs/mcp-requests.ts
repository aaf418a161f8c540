import { createHash } from "node:crypto";
import type { McpServer } from "../../../streams/agent-config.ts";
import { isoTime } from "../../foundation/contracts/format.ts";
import { allowsTool, mcpCallLine, mcpLimits, omittedTool } from "../../foundation/contracts/mcp.ts";
import type { McpResult, McpTool } from "../../foundation/contracts/mcp.ts";
import { canonicalHost } from "../../foundation/contracts/network-allow.ts";
import { messageOf } from "../../foundation/errors.ts";
import { refusal, type RunApiRequest } from "../wire/protocol.ts";
import type { McpClient } from "../wire/mcp-client.ts";
import { portOf } from "./run-egress.ts";
import type { Gates, ServedTool } from "./gates.ts";
import type { LiveRun, Performers, RunMcpServer, RunMcpTool } from "./live-run.ts";
import type { RequestContext } from "./request-context.ts";

type Requests = Performers<"mcp-tools" | "mcp-call" | "mcp-allow">;

/** A failed call is an answer for the model, never an error of the run. */
function failed(server: string, error: unknown): McpResult {
  const text = `the MCP server ${server} failed: ${messageOf(error)}`;
  return { content: [{ type: "text", text }], isError: true };
}

/** The tools of MCP servers: the allowed ones, as the agent knows them, and their calls. */
export function createMcpRequests(context: RequestContext, gates: Gates) {
  const { mcp: store, connectMcp, configOf, clock, redact, redactValue, questions } = context;

  /** By the current config. Throws a RunApiError. */
  const serverOf = (run: LiveRun, name: string): McpServer => {
    const { mcp } = configOf(run.agent) ?? run.request.agent;
    const found = mcp.find((server) => server.name === name);
    if (found !== undefined) return found;
    throw refusal("malformed", `This agent has no MCP server ${JSON.stringify(name)}.`);
  };
  /** Compares the allowed tools with the ones that the agent knows, and logs the changes. */
  const compared = async (run: LiveRun, server: McpServer, tools: readonly McpTool[]) => {
    const { agent } = run;
    const pins = store.pins(agent, server.name);
    const all = new Map<string, RunMcpTool>();
    const pinned: McpTool[] = [];
    for (const tool of rememberable(pins, allowedTools(server, tools))) {
      const pin = pins.get(tool.name);
      const isChanged = pin !== undefined && hashOf(pin.tool) !== hashOf(tool);
      const isHeld = isChanged && gates.holdsTool(run, servedTool(server, tool.name));
      if (isChanged) {
        const since = `since ${isoTime(pin.at)} (${shown(pin.tool)}, now ${shown(tool)})`;
        const until = isHeld ? "; the model sees the old one until a person allows it" : "";
        const text = `the MCP server ${server.name} changed the definition of ${tool.name} ${since}${until}`;
        run.warn(text, { kind: "mcp", server: server.name, tool: tool.name });
      }
      all.set(tool.name, isHeld ? { tool: pin.tool, change: tool } : { tool, change: null });
      if (pin === undefined || (isChanged && !isHeld)) pinned.push(tool);
    }
    if (pinned.length > 0) await store.pin(agent, server.name, pinned, clock.now());
    return all;
  };
  const opened = async (
    run: LiveRun,
    server: McpServer,
    found: readonly McpTool[] | undefined,
  ): Promise<RunMcpServer> => {
    if (server.url === null) {
      // A later scheduler knows the tools of a live run by the pins.
      const pinned = [...store.pins(run.agent, server.name).values()].map(({ tool }) => tool);
      return { client: null, tools: await compared(run, server, found ?? pinned) };
    }
    const over = new AbortController();
    let client: McpClient | null = null;
    // The end of the session is a request, too: it is sent before the connection is cut.
    const end = async (): Promise<void> => {
      await client?.close().catch(() => undefined);
      over.abort();
    };
    const forget = run.onDispose(() => void end());
    try {
      client = await connectMcp(server, { instanceId: run.instanceId, signal: over.signal });
      const { tools, omitted } = redactValue(await client.tools());
      for (const text of omitted) run.warn(omittedTool(server.name, text), { kind: "mcp" });
      return { client, tools: await compared(run, server, tools) };
    } catch (error) {
      forget();
      void end();
      throw error;
    }
  };
  /** A failed connection is tried again by the next request; an edited server has another connection. */
  const open = (run: LiveRun, server: McpServer, found?: readonly McpTool[]) => {
    const key = JSON.stringify(server);
    const known = run.mcp.get(key);
    if (known !== undefined && (found === undefined || server.url !== null)) return known;
    const opening = opened(run, server, found);
    run.mcp.set(key, opening);
    opening.catch(() => run.mcp.delete(key));
    return opening;
  };
  /** Throws a RunApiError if the agent does not have the tool, or a person denied it. */
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
  const call = async (
    { client }: RunMcpServer,
    { instanceId, request, signal, key }: RunApiRequest<"mcp-call">,
  ): Promise<McpResult> => {
    const { tool, arguments: args, traceparent } = request;
    if (client === null) throw new Error("it is inside of runs that start from now on");
    // A request that is repeated after a crash must not call a tool twice.
    if (!(await store.begin(instanceId, key))) throw new Error(unknownOutcome);
    try {
      return await client.call(tool, args, { signal, traceparent });
    } finally {
      // A run whose connection broke repeats the request, also at a later scheduler.
      if (!signal.aborted) await store.end(instanceId, key);
    }
  };

  const performers: Requests = {
    "mcp-tools": async (run, { request }) => {
      const server = serverOf(run, request.server);
      try {
        const { tools } = await open(run, server, redactValue(request.found));
        return { ok: true, tools: [...tools.values()].map(({ tool }) => tool), problem: null };
      } catch (error) {
        const problem = redact(messageOf(error)).slice(0, 2_000);
        const fields = { kind: "mcp", server: server.name, error: problem };
        run.warn(`the MCP server ${server.name} can't be used: ${problem}`, fields);
        return { ok: true, tools: [], problem };
      }
    },
    "mcp-call": async (run, request) => {
      const { server: name, tool } = request.request;
      const connected = await callable(run, request);
      if ("isError" in connected) return answerOf(connected, redactValue);
      const begun = performance.now();
      const result = await call(connected, request).catch((error: unknown) => failed(name, error));
      const answer = answerOf(result, redactValue);
      const line = mcpCallLine({ server: name, tool }, answer, performance.now() - begun);
      const fields = { kind: "mcp", ...line.fields };
      if (line.level === 40) run.warn(line.msg, fields);
      else run.note(line.msg, fields);
      return answer;
    },
    "mcp-allow": async (run, request) => {
      const server = await callable(run, request);
      if ("isError" in server) throw refusal("not_approved", "Its MCP server can't be used.");
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
  "The scheduler was restarted during this call. Whether it took effect is unknown: look before you repeat it.";

/** Without the scheduler's secrets, which a server may repeat. */
function answerOf(result: McpResult, redactValue: RequestContext["redactValue"]) {
  const { content, isError } = redactValue(result);
  return { ok: true as const, content: [...content], isError };
}

function servedTool({ name, url }: McpServer, tool: string): ServedTool {
  const host = url === null ? null : canonicalHost(new URL(url).hostname);
  const port = portOf(url);
  return { name: `${name}.${tool}`, host: host === null || port === null ? null : { host, port } };
}

/** By the protocol. Other names could hold a text for people. */
const toolName = /^[\w./-]{1,128}$/;

/** The tools that the config names. Throws if their definitions are too long for a model. */
function allowedTools({ tools: patterns }: McpServer, tools: readonly McpTool[]): McpTool[] {
  const allowed = tools.filter(({ name }) => toolName.test(name) && allowsTool(patterns, name));
  const bytes = Buffer.byteLength(JSON.stringify(allowed));
  if (bytes <= mcpLimits.definitionsBytes) return allowed;
  const limit = `${mcpLimits.definitionsBytes / 1024} KiB`;
  throw new Error(`the definitions of its tools are longer than ${limit}: allow fewer in tools`);
}

/**
 * The tools. Throws if the agent would have to remember too many: none is forgotten, as a held one would be a new one then, and
 * a run may name others with each request.
 */
function rememberable(known: ReadonlyMap<string, unknown>, tools: readonly McpTool[]) {
  const added = tools.filter(({ name }) => !known.has(name)).length;
  if (added === 0 || known.size + added <= mcpLimits.known) return tools;
  throw new Error(`it has named more than ${mcpLimits.known} tools so far: allow fewer in tools`);
}

function hashOf(tool: McpTool): string {
  return createHash("sha256").update(JSON.stringify(tool)).digest("hex");
}

const shown = (tool: McpTool): string => hashOf(tool).slice(0, 12);

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
