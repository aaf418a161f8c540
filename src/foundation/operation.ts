import type { z } from "zod";
import type { StatusList } from "../../streams/status/wire.ts";
import type { Act } from "./contracts/audit-acts.ts";
import type { Person } from "./contracts/questions.ts";
import type { Scope } from "./contracts/scopes.ts";
import { usageError } from "./errors.ts";

/** Whether an agent is one of those that a token is limited to. */
export type IsMine = (agent: string | null | undefined) => boolean;

/** The request behind an operation. */
export interface Call {
  readonly by: Person;
  /** Null unless the caller's token is limited to some agents. */
  readonly isMine: IsMine | null;
  /** Starts work once for each key; null without one. Throws Problem `malformed`. */
  readonly idempotencyKey: () => string | null;
  /** Runs a function once the answer has been sent. */
  readonly afterAnswer: (run: () => void) => void;
}

/** The fields of a schema's value. An optional body may be missing, and then has none. */
type Fields<T> = [T] extends [null | undefined] ? unknown : Exclude<T, null | undefined>;
/** The parsed fields of a path and of a query or body as one input. */
export type Given<Params extends z.ZodType, Input extends z.ZodType> = Fields<z.output<Params>> &
  Fields<z.output<Input>>;

/**
 * A change that makes an answer stale: of a list, of an agent's status or files, or only of what agents spend or may
 * spend. An answer about one agent stays fresh during the changes of others.
 */
export type StaleBy = StatusList | "agents" | "spending";

interface Spec<
  Context,
  Params extends z.ZodType,
  Input extends z.ZodType,
  Output extends z.ZodType,
> {
  readonly summary: string;
  readonly description?: string;
  /** Fields in the path. */
  readonly params?: Params;
  /** Fields of the query of a read, of the body of a change. */
  readonly input?: Input;
  readonly output: Output;
  /** HTTP status of the answer; by default 200. */
  readonly status?: 200 | 201 | 202;
  /** HTTP statuses of its problems, beyond those of every operation. */
  readonly problems?: readonly number[];
  /** The scope that an API token needs; null: no token will do. By default `read` for a read, null for a change. */
  readonly scope?: Scope | null;
  /** The changes after which pages perform a read again; by default none. */
  readonly changedBy?: readonly StaleBy[];
  /** The answer has a secret: it is neither cached nor compressed. */
  readonly isSecret?: true;
  /** A browser asks for it on its own: that does not prolong a session. */
  readonly isBackground?: true;
  /**
   * Whether an input is only about agents that a token is limited to; by default decided by `name` and `instanceId` of
   * the path, and by `agent` of the query.
   */
  isAbout?(input: Given<Params, Input>, isMine: IsMine, context: Context): boolean;
  perform(
    input: Given<Params, Input>,
    context: Context,
    call: Call,
  ): z.input<Output> | Promise<z.input<Output>>;
}

interface ChangeSpec<
  Context,
  Params extends z.ZodType,
  Input extends z.ZodType,
  Output extends z.ZodType,
> extends Spec<Context, Params, Input, Output> {
  /**
   * The act for the audit trail, null for an input that changed nothing such as a dry run. The member itself is null if
   * `perform` records the act.
   */
  readonly audit: null | ((input: Given<Params, Input>, output: z.input<Output>) => Act | null);
}

/**
 * An operation that people and programs can perform. Its route, its API description, the token scope that it needs and its
 * entry in the audit trail are made from this row, and requests of clients are typed by it.
 */
export interface Operation<
  Context = unknown,
  Params extends z.ZodType = z.ZodType,
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Address extends string = string,
> extends Spec<Context, Params, Input, Output> {
  /**
   * HTTP method and path, with `:name` for the fields of `params`: `GET /api/questions/:id`. A change whose `input` is in
   * the query ends with its fields: `?agent`.
   */
  readonly address: Address;
  /** Heading that the operation is described under. */
  readonly tag: string;
  audit?(input: Given<Params, Input>, output: z.input<Output>): Act | null;
}

/** Maps the address of each operation in a table to the type of its row. Clients import this type only, and no schema. */
export type Named<Rows extends readonly Operation[]> = {
  [Row in Rows[number] as Row["address"]]: Row;
};
/** The input that a client sends. */
export type InputOf<Row> =
  Row extends Operation<never, infer Params, infer Input>
    ? object & Fields<z.input<Params>> & Fields<z.input<Input>>
    : never;
export type OutputOf<Row> = Row extends Operation ? z.output<Row["output"]> : never;

/** Makes the rows under one heading; `Context` has the services of the scheduler that `perform` uses. */
export function operationsOf<Context>(tag: string) {
  return {
    read: <
      const Path extends string,
      Output extends z.ZodType,
      Params extends z.ZodType = z.ZodUndefined,
      Input extends z.ZodType = z.ZodUndefined,
    >(
      path: Path,
      spec: Spec<Context, Params, Input, Output>,
    ): Operation<Context, Params, Input, Output, `GET ${Path}`> => ({
      ...spec,
      address: `GET ${path}`,
      tag,
    }),
    change: <
      const Path extends string,
      Output extends z.ZodType,
      Params extends z.ZodType = z.ZodUndefined,
      Input extends z.ZodType = z.ZodUndefined,
    >(
      path: Path,
      { audit, ...spec }: ChangeSpec<Context, Params, Input, Output>,
    ): Operation<Context, Params, Input, Output, `POST ${Path}`> => ({
      ...spec,
      ...(audit === null ? {} : { audit }),
      address: `POST ${path}`,
      tag,
    }),
  };
}

/** Method and path of an address, and whether its input is in the query. */
export function partsOf(address: string) {
  const [method = "", path = "", query] = address.split(/[ ?]/);
  const hasQuery = method === "GET" || query !== undefined;
  return { method: method === "GET" ? "GET" : "POST", path, hasQuery } as const;
}

/**
 * The request to an address. Fields without a value are omitted. Throws Problem `usage` for the names `.` and `..`, and
 * for an empty one, whose path would be that of another operation.
 */
export function requestOf(address: string, input: object) {
  const fields = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const { method, path: pattern, hasQuery } = partsOf(address);
  const path = pattern.replaceAll(/:(\w+)/g, (_match, name: string) => {
    const value = String(fields.get(name));
    fields.delete(name);
    return segment(value);
  });
  if (!hasQuery) return { method, path, body: Object.fromEntries(fields) };
  const query = new URLSearchParams([...fields].map(([name, value]) => [name, String(value)]));
  return { method, path: query.size === 0 ? path : `${path}?${query.toString()}` };
}

function segment(value: string): string {
  if (/^\.{0,2}$/.test(value)) throw usageError(`"${value}" is not a name`);
  return encodeURIComponent(value);
}
