import { AsyncLocalStorage } from "node:async_hooks";

/** A call to an MCP server, for the requests that the client makes for it. */
export interface McpCall {
  /** Aborts once its caller has stopped waiting for the answer. */
  readonly signal: AbortSignal;
  /** A reason that the transport knows better than the client, such as an answer that was cut; null for none. */
  problem: string | null;
  /** How often the stream of its answer was resumed. */
  resumed: number;
  /** Makes the limits of the next stream of its answer, whose bytes count together; null before the first. */
  limits: (() => (chunk: Buffer) => string | null) | null;
}

/** The client doesn't tell its transport which call a request is for. */
export const mcpCall = new AsyncLocalStorage<McpCall>();
