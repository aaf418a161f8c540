import { randomUUID } from "node:crypto";
import { claimAnswerSchema, remotePaths, type Ticket } from "../../wire/remote-protocol.ts";
import { runApiProblemSchema } from "../../wire/protocol.ts";
import { messageOf, Problem } from "../../../foundation/errors.ts";
import { openDoor } from "./door-connection.ts";
import type { Posted } from "../../wire/post-json.ts";
import { createPauses } from "./lease.ts";

/** The result of a claim: the job, with the token for all further requests. */
export interface ClaimedJob {
  /** Unparsed: another version of the program may know more fields. */
  readonly job: object;
  readonly instanceId: string;
  readonly token: string;
  readonly leaseMs: number;
  /** When the claim was requested, ms of the monotonic clock. */
  readonly askedAt: number;
}

export interface ClaimOptions {
  /** The machine of the run, for people. */
  readonly node: string;
  /** How long a silent door is tried, in ms. */
  readonly unreachableMs: number;
  readonly signal: AbortSignal;
}

const answerMs = 15_000;
const pauseMs = 2_000;

/**
 * The job of the ticket; null if another process has it, or the run has ended. The request is repeated under the same id
 * until its answer comes. Rejects with a Problem if the door stays unreachable or refuses.
 */
export async function claimJob(
  ticket: Ticket,
  { node, unreachableMs, signal }: ClaimOptions,
): Promise<ClaimedJob | null> {
  const text = JSON.stringify({ claim: randomUUID(), node });
  const pauses = createPauses(pauseMs);
  let reachedAt = performance.now();
  while (!signal.aborted) {
    const askedAt = performance.now();
    try {
      const answer = await ask(ticket, text, signal);
      reachedAt = performance.now();
      if (answer.status === 401 || answer.status === 409) return null;
      if (answer.status === 200) return claimedIn(answer, askedAt);
      if (answer.status < 500) throw refused(answer);
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (performance.now() - reachedAt > unreachableMs) throw unreachable(ticket, error);
    }
    await pauses.next(signal);
  }
  return null;
}

async function ask(ticket: Ticket, text: string, signal: AbortSignal): Promise<Posted> {
  using connection = await openDoor(ticket, signal);
  return await connection.request({
    method: "POST",
    path: remotePaths.claim,
    bearer: ticket.ticket,
    body: { type: "application/json", text },
    timeoutMs: answerMs,
    signal,
  });
}

function claimedIn({ body }: Posted, askedAt: number): ClaimedJob {
  const answer = claimAnswerSchema.safeParse(body);
  const token = answer.data?.job.channel?.token;
  if (!answer.success || token === undefined) {
    const fields = answer.error?.issues.map(({ path }) => path.join(".")) ?? ["job.channel"];
    const text = `the scheduler's answer to the claim is not valid: ${fields.join(", ")}`;
    throw new Problem(
      "claim_refused",
      `${text}. Do the image and the scheduler have the same version?`,
    );
  }
  const { leaseSeconds, job } = answer.data;
  const { job: asItCame } = body as { job: object };
  const leaseMs = leaseSeconds * 1000;
  return { job: asItCame, instanceId: job.instanceId, token, leaseMs, askedAt };
}

function refused({ status, body }: Posted): Problem {
  const problem = runApiProblemSchema.safeParse(body);
  const reason = problem.data?.detail ?? "no reason given";
  return new Problem(
    "claim_refused",
    `the scheduler refuses the claim with status ${status}: ${reason}. Do the image and the scheduler have the same version?`,
  );
}

function unreachable({ door }: Ticket, cause: unknown): Problem {
  return new Problem(
    "door_unreachable",
    `the scheduler's door at ${door} cannot be reached from this machine: ${messageOf(cause)}. Check "address" and "listen" of [cluster] in the project's config.toml, and firewalls between the machines.`,
    { cause },
  );
}
