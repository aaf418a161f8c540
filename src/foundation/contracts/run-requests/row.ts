import type { z } from "zod";
import type { CommandRow } from "./command-row.ts";

/** zod is handed to the rows: an agent's commands and the dashboard's pages read rows too, and must not load it. */
export type Zod = typeof z;

/** The fields of a request or an answer, of which a page knows nothing for sure. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * One request that an agent can make while it runs: everything that there is to know of it. From the rows come the route of
 * the run's socket and its validation, the tools of pi, the commands of a shell, the prompt and the reference page; the
 * log's words for a tool are in `log-rows.ts`. What a request does is written where it is performed: by the scheduler, or by the run itself.
 */
export interface RequestRow {
  /** The body of the request. The descriptions of its fields are for the model. */
  readonly request: (z: Zod) => z.ZodObject;
  readonly answer: (z: Zod) => z.ZodObject;
  /** Fields that are stored and shown as they are: a request that has a secret there is refused. */
  readonly shown?: readonly string[];
  /** Seconds for which the scheduler may hold the answer back; absent for a request that is answered at once. */
  readonly waitSeconds?: (body: Fields) => number;
  /** Absent for a request that the harness makes by itself. */
  readonly tool?: ToolRow;
  readonly command?: CommandRow;
}

export interface ToolRow {
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
}
