import type { McpServer } from "../../../../streams/agent-config.ts";
import type { SchedulerContext } from "../../../foundation/context.ts";
import { credentialName } from "../../../foundation/contracts/credential-reference.ts";
import { secretsOf } from "../../../foundation/credentials/credential-types.ts";
import type { Credential } from "../../../foundation/credentials/load-credential.ts";
import { ownAddresses } from "../egress/addresses.ts";
import { dialDirect } from "../egress/dial.ts";
import { createResolve } from "../egress/resolve.ts";
import { portOf } from "../egress/run-egress.ts";
import type { EgressOptions } from "../egress/run-egress.ts";
import type { McpClient } from "./mcp-client.ts";
import { createAnswerRoom, createMcpFetch } from "./mcp-fetch.ts";
import type { McpFetchDeps } from "./mcp-fetch.ts";

/** Connects runs to MCP servers, by the egress rules of addresses. */
export function createMcpConnect(
  { credential, env }: Pick<SchedulerContext, "credential" | "env">,
  /** The gateway's own address, which no server may have; null while it doesn't listen. */
  gatewayUrl: () => string | null,
  { resolve = createResolve(), dial = dialDirect }: EgressOptions = {},
) {
  const room = createAnswerRoom();
  const deps = { credential, resolve, dial, ownAddresses, proxyEnv: env, room };
  const ownPort = (): number | null => portOf(gatewayUrl());
  return (server: McpServer, run: McpRun) => connectServer(server, run, { ...deps, ownPort });
}

/** The sources of a connection. */
interface ConnectDeps extends McpFetchDeps {
  /** Rejects with a UserError. */
  readonly credential: (reference: string) => Promise<Credential>;
  /** The gateway's port on this machine; null if it doesn't listen. */
  readonly ownPort: () => number | null;
}

export interface McpRun {
  readonly instanceId: string;
  /** Aborts at the run's end. */
  readonly signal: AbortSignal;
}

/** Connects to a server that has a URL. The code is loaded by the first connection. Rejects with an error for a person. */
async function connectServer(
  server: McpServer,
  { instanceId, signal }: McpRun,
  { credential, ownPort, ...deps }: ConnectDeps,
): Promise<McpClient> {
  const [{ StreamableHTTPClientTransport }, { connectMcp }] = await Promise.all([
    import("@modelcontextprotocol/client"),
    import("./mcp-client.ts"),
  ]);
  const { credential: reference } = server;
  const headers = async () => (reference === null ? {} : headersOf(await credential(reference)));
  const url = new URL(server.url ?? "");
  const timeoutMs = server.timeoutSeconds * 1000;
  const isPrivate = server.private;
  const address = { url, isPrivate, ownPort: ownPort(), headers, timeoutMs, instanceId, signal };
  const { fetch, problem } = createMcpFetch(address, deps);
  const reconnectionOptions = {
    maxRetries: 0,
    initialReconnectionDelay: 1_000,
    maxReconnectionDelay: 1_000,
    reconnectionDelayGrowFactor: 1,
  };
  const transport = new StreamableHTTPClientTransport(url, { fetch, reconnectionOptions });
  const client = await connectMcp(transport, { timeoutMs, problem });
  const close = async (): Promise<void> => {
    await transport.terminateSession().catch(() => undefined);
    await client.close();
  };
  return { ...client, close };
}

/** The header that has a credential's token. Throws for a credential without one token. */
function headersOf(credential: Credential): Record<string, string> {
  const { token, header } = credential.fields;
  const [only, ...others] = secretsOf(credential);
  const value = token ?? (others.length === 0 ? only : undefined);
  if (value === undefined) {
    throw new Error(`the credential ${credentialName(credential)} has no field token`);
  }
  return header === undefined ? { authorization: `Bearer ${value}` } : { [header]: value };
}
