import { createHash } from "node:crypto";
import type { McpServer } from "../../../streams/agent-config.ts";
import { isoTime } from "../../../streams/iso-times.ts";
import {
  allowsTool,
  mcpLimits,
  omittedTool,
  type McpTool,
} from "../../foundation/contracts/mcp.ts";
import { canonicalHost } from "../../foundation/contracts/network-allow.ts";
import type { McpClient } from "../wire/mcp-client.ts";
import type { Gates, ServedTool } from "./gates.ts";
import type { LiveRun, RunMcpServer, RunMcpTool } from "./live-run.ts";
import type { RequestContext } from "./request-context.ts";
import { portOf } from "./run-egress.ts";

/** Opens the MCP servers of runs, each once, and pins the tools that their agents know. */
export function createMcpServers(
  { mcp: store, connectMcp, clock, redactValue }: RequestContext,
  gates: Gates,
) {
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
  const listed = async (run: LiveRun, server: McpServer, client: McpClient) => {
    const { tools, omitted } = redactValue(await client.tools());
    for (const text of omitted) run.warn(omittedTool(server.name, text), { kind: "mcp" });
    return { client, tools: await compared(run, server, tools) };
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
      client = await connectMcp(server, {
        instanceId: run.instanceId,
        signal: over.signal,
        onToolsChanged: () => run.changedMcp.add(server.name),
      });
      return await listed(run, server, client);
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
  /** Opens a server, and reads its tools again if it said that they have changed. They stay as they were if that fails. */
  const list = async (run: LiveRun, server: McpServer, found?: readonly McpTool[]) => {
    const known = await open(run, server, found);
    if (!run.changedMcp.delete(server.name) || known.client === null) return known;
    const again = await listed(run, server, known.client);
    run.mcp.set(JSON.stringify(server), Promise.resolve(again));
    return again;
  };
  return { open, list };
}

/** A tool of a server, with the host that gates may hold. */
export function servedTool({ name, url }: McpServer, tool: string): ServedTool {
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
  throw new Error(
    `the definitions of its tools are longer than ${limit}: allow fewer of them in tools`,
  );
}

/**
 * The tools. Throws if the agent would have to remember too many: none is forgotten, as a held one would be a new one then, and
 * a run may name others with each request.
 */
function rememberable(known: ReadonlyMap<string, unknown>, tools: readonly McpTool[]) {
  const added = tools.filter(({ name }) => !known.has(name)).length;
  if (added === 0 || known.size + added <= mcpLimits.known) return tools;
  throw new Error(
    `it has named more than ${mcpLimits.known} tools so far: allow fewer of them in tools`,
  );
}

/** Names a definition of a tool. */
export function hashOf(tool: McpTool): string {
  return createHash("sha256").update(JSON.stringify(tool)).digest("hex");
}

const shown = (tool: McpTool): string => hashOf(tool).slice(0, 12);
