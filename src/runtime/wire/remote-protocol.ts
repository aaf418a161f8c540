import { stopReasons, type StopReason } from "../../../streams/outcomes.ts";
import { z } from "zod";
import { jobSchema, type Job } from "../../foundation/contracts/job.ts";

/**
 * How a run on another machine reaches the scheduler: TLS to the scheduler's door, whose certificate the run knows,
 * under the run's own server name. The connection then carries the requests of a local run's socket, and the ones below.
 * A ticket is valid for one claim; the response has the job and the run's token, the bearer of all other requests.
 * `POST` a claim as JSON with the ticket as a bearer, `POST` lines as `application/x-ndjson`, `GET` the inbox. 503 and
 * 429 mean: retry later. 401 means that the run has ended.
 */
export const remotePaths = {
  claim: "/remote/claim",
  lines: "/remote/lines",
  inbox: "/remote/inbox",
} as const;

/** The input of a run that starts: one JSON document, which is secret. */
export const ticketSchema = z.object({
  /** `host:port` of the door, as reachable from the run's machine. */
  door: z.string(),
  /** The door's own certificate, PEM: the run trusts no other. */
  certificate: z.string(),
  /** The TLS server name that identifies the run at the door. */
  name: z.string(),
  /** Secret; valid for one claim. */
  ticket: z.string(),
});
export type Ticket = z.infer<typeof ticketSchema>;

/** Environment variable of a remote run: the name of its machine, if its engine knows it. */
export const nodeVariable = "AL_NODE";

export const claimRequestSchema = z.object({
  /** Chosen by the claimer; the same value again means the same claimer, whose answer was lost. */
  claim: z.uuid(),
  /** The run's machine, for people; empty if it is unknown. */
  node: z.string().max(200),
});
export type ClaimRequest = z.infer<typeof claimRequestSchema>;

/** 409 `claimed` for any other claimer, which then exits with code 0. */
export const claimAnswerSchema = z.object({
  /** The job's `channel` has the token; the claimer creates the socket in it. */
  job: jobSchema,
  /** How long a run may be without the scheduler before it is lost. It ends itself after two thirds of that. */
  leaseSeconds: z.number().positive(),
});
export type ClaimAnswer = z.infer<typeof claimAnswerSchema>;

/** Bytes of one request with lines. */
export const maxLinesBytes = 1024 * 1024;

/** How the run's process ended; all its children have ended, too. */
export const remoteEndSchema = z.object({
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  outOfMemory: z.boolean(),
  /** Why it never began. */
  rejected: z.string().nullable(),
});
export type RemoteEnd = z.infer<typeof remoteEndSchema>;

/** One line of a run's output, or its end, as NDJSON. `seq` counts from 1 without a gap; `time` is epoch ms. */
export const remoteLineSchema = z.union([
  z.object({
    seq: z.int().min(1),
    time: z.number().min(0).max(8.64e15),
    stream: z.enum(["stdout", "stderr"]),
    line: z.string(),
  }),
  z.object({ seq: z.int().min(1), time: z.number().min(0).max(8.64e15), end: remoteEndSchema }),
]);
export type RemoteLine = z.infer<typeof remoteLineSchema>;

/**
 * `stored` is the highest number up to which every line is in the scheduler's logs; later lines are resent, in order. To
 * a new `scheduler`, the run first resends those stored lines that were only in the scheduler's memory: status, value,
 * rerun, account. It first sends an empty request over a new connection, so that the numbers one scheduler gets only
 * grow, except for repeats. An end is answered with 401 once it is committed.
 */
export const linesAnswerSchema = z.object({ stored: z.int().min(0), scheduler: z.string() });
export type LinesAnswer = z.infer<typeof linesAnswerSchema>;

/** How long a request waits for an empty inbox, in ms. */
export const inboxWaitMs = 5_000;

/** Orders to a run. `stop` ends it and has the time between TERM and KILL in ms; null without new orders. */
export const inboxAnswerSchema = z.object({
  stop: z.object({ reason: z.enum(stopReasons), graceMs: z.number().min(0) }).nullable(),
});
export interface InboxAnswer {
  readonly stop: { readonly reason: StopReason; readonly graceMs: number } | null;
}

/** The scheduler's handlers of requests by runs on other machines. Each rejects with a Problem to refuse. */
export interface RemoteRuns {
  /** The job, only for the claimer whose claim is committed. */
  claim(
    instanceId: string,
    request: ClaimRequest,
  ): Promise<{ readonly job: Job; readonly leaseSeconds: number }>;
  /** Resolves when the lines are in the logs; for an end, never while the run lives. */
  lines(instanceId: string, lines: readonly RemoteLine[]): Promise<LinesAnswer>;
  /** Resolves when there is an order, or after `inboxWaitMs`. */
  inbox(instanceId: string, signal: AbortSignal): Promise<InboxAnswer>;
}
