import { z } from "zod";
import { outcomes } from "../../streams/vocabulary.ts";

/**
 * What a run asks of the scheduler while it lives: `POST /run/<ability>` over its own Unix socket, with the run's
 * token as a bearer and an `Idempotency-Key` that a repeated request keeps. Both ends check by these schemas.
 */

/** Where a run in a container finds the folder with its socket. */
export const mountedSocketDir = "/run/al";

const secondsSchema = z.number().min(0).max(86_400);
/** Characters of a text that a run sends: a context, a status, a value as JSON. */
export const maxTextLength = 65_536;
/** Such a text fits even when each of its characters is an escape; the schemas limit the text itself. */
export const maxRequestBytes = 6 * maxTextLength + 4_096;
/** A run may wait this often as long as one wait lasts at most (`waitTimeout`). */
export const maxWaitsOfRun = 10;
const textSchema = z.string().max(maxTextLength);
/** A URI, so that two agents mean the same by it; people read it, so it holds nothing that can't be seen. */
const resourceSchema = z
  .string()
  .max(512)
  .regex(
    /^[a-z][a-z0-9+.-]*:[^\s\p{C}]+$/iu,
    "a resource is a URI, such as github:acme/app/issues/7",
  );
/** A name that people are shown. */
const nameSchema = z
  .string()
  .max(200)
  .regex(/^\P{C}*$/u, "it holds a control character");
const callIdsSchema = z.array(z.uuid()).min(1).max(100);

const scalarSchema = z.union([z.string().max(1024), z.number(), z.boolean(), z.null()]);
/** Each delivery is held against each of them, for everybody who waits. */
const maxConditions = 32;

/** A run that stands in the way, or one of those that wait for each other. */
const holderSchema = z.object({
  agent: z.string(),
  instanceId: z.string(),
  /** ISO 8601 UTC, as are all times here. */
  heldSince: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});

const callSchema = z.object({
  callId: z.string(),
  agent: z.string(),
  state: z.enum(["queued", "running", "ended"]),
  outcome: z.enum(outcomes).nullable(),
  exitCode: z.int().nullable(),
  /** What the callee returned; null for nothing. */
  value: z.unknown(),
  reason: z.string().nullable(),
});

const ok = z.literal(true);

/** Request and answer of each ability. */
export const runRequests = {
  lock: {
    request: z.strictObject({
      resource: resourceSchema,
      /** How long it is held at most; `resourceLockTimeout` when absent. */
      ttlSeconds: secondsSchema.min(1).optional(),
      /** How long to wait for a resource that is held; not at all when absent. */
      waitSeconds: secondsSchema.optional(),
    }),
    answer: z.object({
      ok,
      resource: z.string(),
      /** Grows with every new holder, so that what is protected can refuse a late one. */
      fencingToken: z.int(),
      expiresAt: z.iso.datetime(),
    }),
  },
  unlock: { request: z.strictObject({ resource: resourceSchema }), answer: z.object({ ok }) },
  "lock-heartbeat": {
    request: z.strictObject({
      resource: resourceSchema,
      ttlSeconds: secondsSchema.min(1).optional(),
    }),
    answer: z.object({ ok, expiresAt: z.iso.datetime() }),
  },
  call: {
    request: z.strictObject({
      agent: z.string().min(1).max(200),
      context: textSchema,
      /** Ends the call when its caller ends. */
      cancelOnExit: z.boolean().optional(),
    }),
    answer: z.object({ ok, callId: z.string(), state: z.enum(["queued", "running", "ended"]) }),
  },
  "call-check": {
    request: z.strictObject({ callIds: callIdsSchema }),
    answer: z.object({ ok, calls: z.array(callSchema) }),
  },
  "call-wait": {
    request: z.strictObject({ callIds: callIdsSchema, timeoutSeconds: secondsSchema.optional() }),
    answer: z.object({ ok, timedOut: z.boolean(), calls: z.array(callSchema) }),
  },
  wait: {
    request: z.strictObject({
      kind: z.enum(["webhook", "agent-call"]),
      /** Webhook source, or the calling agent. */
      source: nameSchema.optional(),
      event: nameSchema.optional(),
      /** Path in the payload (`issue.labels.0.name`) to the value that it must have. */
      where: z
        .record(z.string().max(200), scalarSchema)
        .refine((where) => Object.keys(where).length <= maxConditions, {
          error: `at most ${maxConditions} conditions`,
        })
        .optional(),
      /** Bounded by the agent's `waitTimeout`, which is also the default; 0 only looks back. */
      timeoutSeconds: secondsSchema.optional(),
    }),
    answer: z.object({
      ok,
      timedOut: z.boolean(),
      /** Present when the wait was shorter than it was to be. */
      limited: z
        .object({ askedSeconds: z.number(), timeoutSeconds: z.number(), why: z.string() })
        .optional(),
      /** What ended the wait, as a prompt tells a trigger; null when nothing did. */
      trigger: z.record(z.string(), z.unknown()).nullable(),
    }),
  },
  /** The request of the same key is not waited for any more: a `wait`, `call-wait` or `lock`. */
  cancel: { request: z.strictObject({}), answer: z.object({ ok }) },
} as const;

export type RequestName = keyof typeof runRequests;
export type RequestBody<A extends RequestName> = z.infer<(typeof runRequests)[A]["request"]>;
export type RequestAnswer<A extends RequestName> = z.infer<(typeof runRequests)[A]["answer"]>;

/** Why a run's request is refused: a short stable code, for programs, beside the sentence for people. */
export const runApiErrors = {
  malformed: 400,
  unauthorized: 401,
  unknown_agent: 404,
  unknown_source: 404,
  unknown_call: 404,
  held: 409,
  wait_timeout: 409,
  deadlock: 409,
  not_holder: 409,
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

/** Thrown where an ability is refused, at either end. */
export class RunApiError extends Error {
  readonly problem: RunApiProblem;

  constructor(problem: RunApiProblem, options?: { cause?: unknown }) {
    super(problem.detail, options);
    this.name = "RunApiError";
    this.problem = problem;
  }
}

/** The error by which a run is refused what it asked for. */
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
  /** Of the client's making; the same again asks for the same once. */
  readonly key: string;
  readonly request: RequestBody<A>;
  /** Aborted when the run no longer waits for the answer. */
  readonly signal: AbortSignal;
}

/** What the scheduler does for its runs. Rejects with a RunApiError; what it promised is committed by then. */
export interface RunApi {
  perform<A extends RequestName>(request: RunApiRequest<A>): Promise<RequestAnswer<A>>;
}
