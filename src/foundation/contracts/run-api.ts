import { z } from "zod";
import { maxTextLength } from "./run-requests/fields.ts";
import type { RequestName, schedulerRequests } from "./run-requests/table.ts";

/**
 * What a run asks of the scheduler while it lives: `POST /run/<name>` over its own Unix socket, with the run's token as
 * a bearer and an `Idempotency-Key` that a repeated request keeps. `run-requests/` has a row for each. The
 * scheduler checks requests, the run checks answers: each side what it receives.
 */

/** Where a run in a container finds the folder with its socket. */
export const mountedSocketDir = "/run/al";

/** A text of the greatest length fits even when each of its characters is an escape. */
export const maxRequestBytes = 6 * maxTextLength + 4_096;
/** A run may wait this often as long as one wait lasts at most (`waitTimeout`). */
export const maxWaitsOfRun = 10;

type Rows = typeof schedulerRequests;
export type { RequestName };
export type RequestBody<N extends RequestName> = z.infer<ReturnType<Rows[N]["request"]>>;
export type RequestAnswer<N extends RequestName> = z.infer<ReturnType<Rows[N]["answer"]>>;

/** A run that holds the requested lock, or one of those that wait for each other. */
const holderSchema = z.object({
  agent: z.string(),
  instanceId: z.string(),
  /** ISO 8601 UTC, as are all times here. */
  heldSince: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});

/** Why a run's request is refused: a short stable code, for programs, beside the sentence for people. */
export const runApiErrors = {
  malformed: 400,
  unauthorized: 401,
  unknown_agent: 404,
  unknown_source: 404,
  unknown_call: 404,
  held: 409,
  /** A run on another machine: another process has its claim. */
  claimed: 409,
  wait_timeout: 409,
  deadlock: 409,
  not_holder: 409,
  /** The run's own: only a run that its schedule started can ask for another. */
  not_scheduled: 409,
  too_many_locks: 409,
  disabled: 409,
  self_call: 409,
  too_deep: 409,
  too_many_calls: 409,
  too_many_requests: 429,
  unavailable: 503,
} as const;
export type RunApiErrorCode = keyof typeof runApiErrors;

/** A refusal as it goes over the wire, `application/problem+json`. */
export const runApiProblemSchema = z.object({
  error: z.enum(Object.keys(runApiErrors) as [RunApiErrorCode, ...RunApiErrorCode[]]),
  detail: z.string(),
  /** Who holds what was asked for. */
  holder: holderSchema.optional(),
  /** The runs that would wait for each other, from the one that asked back to itself. */
  path: z.array(z.string()).optional(),
});
export type RunApiProblem = z.infer<typeof runApiProblemSchema>;

/** Thrown where a request is refused, at either end. */
export class RunApiError extends Error {
  readonly problem: RunApiProblem;

  constructor(problem: RunApiProblem, options?: { cause?: unknown }) {
    super(problem.detail, options);
    this.name = "RunApiError";
    this.problem = problem;
  }
}

/** The error that refuses a request. */
export function refusal(
  error: RunApiErrorCode,
  detail: string,
  { cause, ...more }: Partial<Pick<RunApiProblem, "path" | "holder">> & { cause?: unknown } = {},
): RunApiError {
  return new RunApiError({ error, detail, ...more }, { cause });
}

/** A request of a run that was let in. */
export interface RunApiRequest<A extends RequestName = RequestName> {
  /** The instance whose socket and token it came by. */
  readonly instanceId: string;
  readonly ability: A;
  /** Chosen by the client; repeated requests with one key are performed once. */
  readonly key: string;
  readonly request: RequestBody<A>;
  /** Aborted when the run no longer waits for the answer. */
  readonly signal: AbortSignal;
}

/** What the scheduler does for its runs. Rejects with a RunApiError; what it promised is committed by then. */
export interface RunApi {
  perform<A extends RequestName>(request: RunApiRequest<A>): Promise<RequestAnswer<A>>;
}
