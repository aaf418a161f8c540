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

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Requests of one call of a tool. */
export interface ToolApi {
  /** Resolves with the answer, trusted to match the schema of its route. Parameters without a value are omitted. */
  perform<Address extends keyof NamedOperations>(
    address: Address,
    input: InputOf<NamedOperations[Address]>,
  ): Promise<OutputOf<NamedOperations[Address]>>;
  get<Answer>(path: string, query?: Query): Promise<Answer>;
  post(path: string, body?: object, headers?: ApiRequest["headers"]): Promise<unknown>;
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /** Notifies a client that asked for progress; `done` of `total` seconds. */
  readonly progress: (done: number, total: number) => void;
}

/** The requests of a tool, by an `ApiCall`. */
export function requestsBy(call: ApiCall): Pick<ToolApi, "perform" | "get" | "post"> {
  return {
    perform: async <Address extends keyof NamedOperations>(
      address: Address,
      input: InputOf<NamedOperations[Address]>,
    ) => (await call(requestOf(address, input))) as OutputOf<NamedOperations[Address]>,
    get: async <Answer>(path: string, query: Query = {}) => {
      const given = Object.entries(query).filter(([, value]) => value !== undefined);
      const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
      return (await call({ method: "GET", path: `${path}?${text.toString()}` })) as Answer;
    },
    post: (path, body = {}, headers = {}) => call({ method: "POST", path, body, headers }),
  };
}
