import { requestOf } from "../../foundation/operation.ts";
import type { InputOf, OutputOf } from "../../foundation/operation.ts";
import type { NamedOperations } from "../operations/table.ts";

/** A request to the scheduler's HTTP API. */
export interface ApiRequest {
  readonly method: "GET" | "POST";
  /** With its query. */
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends a request as the person who uses the tool, so that scopes, redaction, limits and the audit trail are those of the
 * HTTP API. Resolves with the answer's JSON; rejects with a Problem for every problem.
 */
export type ApiCall = (request: ApiRequest) => Promise<unknown>;

/** One call of a tool. */
export interface ToolApi {
  /** Performs an operation; resolves with its answer, trusted to match its schema. */
  perform<Address extends keyof NamedOperations>(
    address: Address,
    input: InputOf<NamedOperations[Address]>,
    headers?: ApiRequest["headers"],
  ): Promise<OutputOf<NamedOperations[Address]>>;
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /** Notifies a client that asked for progress; `done` of `total` seconds. */
  readonly progress: (done: number, total: number) => void;
}

/** Performs the operations of a tool by an `ApiCall`. */
export const performedBy =
  (call: ApiCall) =>
  async <Address extends keyof NamedOperations>(
    address: Address,
    input: InputOf<NamedOperations[Address]>,
    headers: ApiRequest["headers"] = {},
  ) =>
    (await call({ ...requestOf(address, input), headers })) as OutputOf<NamedOperations[Address]>;
