import { z } from "zod";
import { maxTextLength, schemaProblems } from "./requests/row.ts";
import type { RequestName, schedulerRequests } from "./requests/table.ts";

/**
 * Requests of a live run to the scheduler: `POST /run/<name>` over the run's own Unix socket, with the run's token as
 * a bearer and an `Idempotency-Key` that a repeated request keeps. `requests/` defines each request. Each side
 * validates its input: the scheduler requests, the run answers.
 */

/** The folder of the run's socket inside a container. */
export const mountedSocketDir = "/run/al";

/** Fits a text of maximum length even if each of its characters is escaped. */
export const maxRequestBytes = 6 * maxTextLength + 4_096;
/** Total waiting time of a run, in multiples of its longest wait (`waitTimeout`). */
export const maxWaitsOfRun = 10;

type Rows = typeof schedulerRequests;
export type { RequestName };
export type RequestBody<N extends RequestName> = z.infer<ReturnType<Rows[N]["request"]>>;
export type RequestAnswer<N extends RequestName> = z.infer<ReturnType<Rows[N]["answer"]>>;

/** The gateway's verdict on a call to a model. */
export type ModelVerdict = NonNullable<RequestAnswer<"model-verdict">["verdict"]>;
export type ModelFailure = NonNullable<ModelVerdict["failure"]>;

/** The run that holds the requested lock. */
const holderSchema = z.object({
  agent: z.string(),
  instanceId: z.string(),
  /** ISO 8601 UTC, as are all times here. */
  heldSince: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});

/** HTTP statuses of refusals, by the stable codes that programs read beside the sentence for people. */
export const runApiErrors = {
  malformed: 400,
  unauthorized: 401,
  unknown_agent: 404,
  unknown_source: 404,
  unknown_call: 404,
  held: 409,
  /** Another process, on another machine, has claimed this run. */
  claimed: 409,
  wait_timeout: 409,
  deadlock: 409,
  not_holder: 409,
  /** The run itself refuses: only a run started by its schedule can request a rerun. */
  not_scheduled: 409,
  too_many_locks: 409,
  disabled: 409,
  not_approved: 409,
  self_call: 409,
  too_deep: 409,
  too_many_calls: 409,
  too_many_questions: 409,
  too_many_requests: 429,
  unavailable: 503,
} as const;
export type RunApiErrorCode = keyof typeof runApiErrors;

/** Wire format of a refusal, `application/problem+json`. */
export const runApiProblemSchema = z.object({
  error: z.enum(Object.keys(runApiErrors) as [RunApiErrorCode, ...RunApiErrorCode[]]),
  detail: z.string(),
  /** The run that holds the requested lock. */
  holder: holderSchema.optional(),
  /** The cycle of runs that would wait for each other, beginning and ending with the requesting run. */
  path: z.array(z.string()).optional(),
});
export type RunApiProblem = z.infer<typeof runApiProblemSchema>;

/** The refusal of a request, thrown by the scheduler and by the run. */
export class RunApiError extends Error {
  readonly problem: RunApiProblem;

  constructor(problem: RunApiProblem, options?: { cause?: unknown }) {
    super(problem.detail, options);
    this.name = "RunApiError";
    this.problem = problem;
  }
}

/** Creates the error that refuses a request. */
export function refusal(
  error: RunApiErrorCode,
  detail: string,
  { cause, ...more }: Partial<Pick<RunApiProblem, "path" | "holder">> & { cause?: unknown } = {},
): RunApiError {
  return new RunApiError({ error, detail, ...more }, { cause });
}

export function starting(): RunApiError {
  return refusal("unavailable", "The scheduler is starting.");
}

/** The refusal of a request after the run's socket ended this way. */
export function endedRun(how: "over" | "closing" | null): RunApiError {
  if (how === "over") return refusal("unauthorized", "This run is over.");
  return refusal("unavailable", "The scheduler is stopping.");
}

/** Validates a value against a schema. The refusal describes the problem without quoting the value. */
export function parsed<T>(schema: z.ZodType<T>, value: unknown, subject: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusal("malformed", `${subject}: ${schemaProblems(result.error)}`);
}

/** Identifies a request of a run. */
export interface RequestKey<A extends RequestName = RequestName> {
  /** The instance whose socket and token the request used. */
  readonly instanceId: string;
  readonly ability: A;
  /** Chosen by the client; repeated requests with one key are performed once. */
  readonly key: string;
}

/** An authenticated request of a run. */
export interface RunApiRequest<A extends RequestName = RequestName> extends RequestKey<A> {
  readonly request: RequestBody<A>;
  /** Aborted when the run no longer waits for the answer. */
  readonly signal: AbortSignal;
}

/** Performs requests of runs. Rejects with a RunApiError. Effects are committed before the answer is returned. */
export interface RunApi {
  perform<A extends RequestName>(request: RunApiRequest<A>): Promise<RequestAnswer<A>>;
}
