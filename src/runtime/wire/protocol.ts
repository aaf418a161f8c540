import { z } from "zod";
import { lockSchema } from "../../foundation/contracts/operator-api.ts";
import { hasCode, Problem } from "../../foundation/errors.ts";
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

/** The stable codes of refusals, which programs read beside the sentence for people. */
const refusalCodes = [
  "malformed",
  "unauthorized",
  "unknown_agent",
  "unknown_source",
  "unknown_call",
  "held",
  /** Another process, on another machine, has claimed this run. */
  "claimed",
  "wait_timeout",
  "deadlock",
  "not_holder",
  /** The run itself refuses: only a run started by its schedule can request a rerun. */
  "not_scheduled",
  "too_many_locks",
  "disabled",
  "not_approved",
  "self_call",
  "too_deep",
  "too_many_calls",
  "too_many_questions",
  "too_many_requests",
  "unavailable",
] as const;
type RefusalCode = (typeof refusalCodes)[number];

/** Wire format of a refusal, `application/problem+json`. */
export const runApiProblemSchema = z.object({
  error: z.enum(refusalCodes),
  detail: z.string(),
  /** The run that holds the requested lock. */
  holder: lockSchema.omit({ resource: true }).optional(),
  /** The cycle of runs that would wait for each other, beginning and ending with the requesting run. */
  path: z.array(z.string()).optional(),
});
type RunApiProblem = z.infer<typeof runApiProblemSchema>;

/** The refusal of a request, thrown by the scheduler and by the run. */
export function refusal(
  code: RefusalCode,
  detail: string,
  { cause, ...members }: Partial<Pick<RunApiProblem, "path" | "holder">> & { cause?: unknown } = {},
): Problem {
  return new Problem(code, detail, { cause, members });
}

/** Whether an error is for the run; others may name files of the scheduler. */
export function isRefusal(error: unknown): error is Problem {
  return error instanceof Problem && hasCode(error, ...refusalCodes);
}

export function starting(): Problem {
  return refusal("unavailable", "The scheduler is starting.");
}

/** The refusal of a request after the run's socket ended this way. */
export function endedRun(how: "over" | "closing" | null): Problem {
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

/** Performs requests of runs. Rejects with a Problem. Effects are committed before the answer is returned. */
export interface RunApi {
  perform<A extends RequestName>(request: RunApiRequest<A>): Promise<RequestAnswer<A>>;
}
