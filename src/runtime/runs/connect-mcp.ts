import type { McpServer } from "../../../streams/agent-config.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { credentialName } from "../../foundation/contracts/credential-reference.ts";
import { credentialType, secretsOf } from "../../foundation/credentials/credential-types.ts";
import type { Credential } from "../../foundation/credentials/load-credential.ts";
import { ownAddresses } from "../run-api/egress/addresses.ts";
import { dialDirect } from "../run-api/egress/dial.ts";
import { createResolve } from "../run-api/egress/resolve.ts";
import { portOf, type EgressOptions } from "./run-egress.ts";
import { mcpCall } from "../wire/mcp-call.ts";
import type { McpClient } from "../wire/mcp-client.ts";
import { createAnswerRoom, createMcpFetch } from "../run-api/mcp/mcp-fetch.ts";

/** A run that connects. */
export interface McpRun {
  readonly instanceId: string;
  /** Aborts at the run's end. */
  readonly signal: AbortSignal;
  /** The server has other tools than the last list. */
  readonly onToolsChanged?: () => void;
}

/** Connects runs to MCP servers, by the egress rules of addresses. */
export function createMcpConnect(
  { credential, env }: Pick<SchedulerContext, "credential" | "env">,
  /** The gateway's own address, which no server may have; null while it doesn't listen. */
  gatewayUrl: () => string | null,
  { resolve = createResolve(), dial = dialDirect }: EgressOptions = {},
) {
  const deps = { resolve, dial, ownAddresses, proxyEnv: env, room: createAnswerRoom() };
  const openSession = async (server: McpServer, run: McpRun) => {
    const [{ StreamableHTTPClientTransport }, { connectMcp }] = await Promise.all([
      import("@modelcontextprotocol/client"),
      import("../wire/mcp-client.ts"),
    ]);
    const { credential: reference, private: isPrivate } = server;
    const headers = async () => (reference === null ? {} : headersOf(await credential(reference)));
    const url = new URL(server.url ?? "");
    const timeoutMs = server.timeoutSeconds * 1000;
    const { onToolsChanged } = run;
    const ownPort = portOf(gatewayUrl());
    const address = { url, isPrivate, ownPort, headers, timeoutMs, ...run };
    const transport = new StreamableHTTPClientTransport(url, {
      fetch: createMcpFetch(address, deps),
      // A server asks for the delay; none would have streams opened without a pause.
      reconnectionScheduler: (reconnect, delayMs) => {
        const timer = setTimeout(reconnect, Math.max(delayMs, 1_000));
        return () => clearTimeout(timer);
      },
    });
    const send = transport.send.bind(transport);
    // Otherwise a request whose event stream breaks would fail at its time limit only, and one that is given up would stay
    // open at servers of the revisions before 2026. A message without an id may say that it was given up.
    let isAnswering = false;
    transport.send = async (message, options) => {
      // An answer to a request of the server, such as a ping. Each is a connection of its own: one at a time.
      if (!Array.isArray(message) && !("method" in message)) {
        if (isAnswering) return;
        isAnswering = true;
        return send(message, options).finally(() => (isAnswering = false));
      }
      const id = "id" in message ? message.id : undefined;
      const given = id === undefined ? undefined : mcpCall.getStore()?.signal;
      const requestSignal = options?.requestSignal ?? given;
      const error = { code: -32_000, message: "its event stream ended without an answer" };
      const onRequestStreamEnd = (): void => transport.onmessage?.({ jsonrpc: "2.0", id, error });
      return send(message, {
        ...options,
        ...(requestSignal && { requestSignal }),
        onRequestStreamEnd,
      });
    };
    const client = await connectMcp(transport, { timeoutMs, onToolsChanged }).catch(
      (error: unknown) => {
        throw statusOf(error) === 405 ? new Error(oldTransport(url), { cause: error }) : error;
      },
    );
    const close = async (): Promise<void> => {
      await transport.terminateSession().catch(() => undefined);
      await client.close();
    };
    const isGone = (error: unknown) => transport.sessionId !== undefined && refusesSession(error);
    return { ...client, close, isGone };
  };
  /** Connects to a server that has a URL. The code is loaded by the first connection. Rejects with an error for a person. */
  return async (server: McpServer, run: McpRun): Promise<McpClient> => {
    let current = openSession(server, run);
    await current;
    return {
      tools: async () => (await current).tools(),
      call: async (...call) => {
        const used = current;
        const session = await used;
        return session.call(...call).catch(async (error: unknown) => {
          // Other calls may still wait for answers in the old session: it is not closed.
          if (!session.isGone(error)) throw error;
          // All calls that a session refused share the next one; if that can't be opened, the next call tries again.
          if (current === used) {
            current = openSession(server, run);
            run.onToolsChanged?.();
            current.catch(() => (current = used));
          }
          return (await current).call(...call);
        });
      },
      close: async () => (await current).close(),
    };
  };
}

/** An address of the protocol takes POST. */
const oldTransport = ({ href }: URL): string =>
  `it refuses POST (405), like servers with the old transport HTTP+SSE. Use its address for Streamable HTTP, or set \`command = ["npx", "mcp-remote", "${href}"]\` instead of url`;

const statusOf = (error: unknown): unknown =>
  (error as { readonly cause?: { readonly status?: unknown } }).cause?.status;

/**
 * Whether a server refused a request before it executed it, because it does not know the session (any more). The
 * specification asks for 404; servers also answer 400, 410, or 200 with an error that says only this.
 */
function refusesSession(error: unknown): boolean {
  const { cause } = error as { cause?: { status?: number; message?: string } };
  const { status, message = "" } = cause ?? {};
  if (status === 404 || status === 410) return true;
  if (status === 400) return /session|not initialized/i.test(message);
  return status === undefined && message.length < 100 && unknownSession.test(message);
}

/** A text of these words only: other errors of a tool may speak of the sessions of a browser or a login. */
const unknownSession =
  /^(?=.*session)(?:(?:mcp|session|id|bad|request|error|no|not|valid|invalid|unknown|expired|terminated|missing|found|provided|or|is|was|has|been|does|exist)\W*)+$/i;

/** The header that has a credential's token. Throws for a credential without one token. */
function headersOf(credential: Credential): Record<string, string> {
  if (credentialType(credential.type)?.inRun !== undefined)
    throw new Error(`the credential ${credentialName(credential)} is for runs; store a token`);
  const { token, header } = credential.fields;
  const [only, ...others] = secretsOf(credential);
  const value = token ?? (others.length === 0 ? only : undefined);
  if (value === undefined) {
    throw new Error(`the credential ${credentialName(credential)} has no field token`);
  }
  return header === undefined ? { authorization: `Bearer ${value}` } : { [header]: value };
}
