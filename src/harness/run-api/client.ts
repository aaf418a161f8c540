import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { runRequests, RunApiError, runApiProblemSchema } from "../../contracts/run-api.ts";
import type { RequestName, RequestAnswer, RequestBody } from "../../contracts/run-api.ts";
import { messageOf } from "../../errors.ts";
import { postJson } from "../post-json.ts";
import type { Posted } from "../post-json.ts";

/** Asks the scheduler for a run. */
export interface RunApiClient {
  /**
   * Resolves to the answer, however often the scheduler goes away meanwhile: the request is repeated under the same
   * key, and takes effect once. Rejects with a RunApiError when it is refused or nobody answers in time.
   */
  ask<A extends RequestName>(
    ability: A,
    request: RequestBody<A>,
    signal: AbortSignal,
  ): Promise<RequestAnswer<A>>;
}

export interface RunApiClientOptions {
  /** Path of the socket as this process sees it. */
  readonly socket: string;
  readonly token: string;
  /** How long a scheduler that is away is waited for, beyond what the request itself waits, in ms. */
  readonly patienceMs?: number;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/** Enough for a restart by hand. */
const defaultPatienceMs = 120_000;
const shortestPauseMs = 100;
const longestPauseMs = 5_000;

/** The client of one run's channel. */
export function createRunApiClient(options: RunApiClientOptions): RunApiClient {
  const { socket, token, patienceMs = defaultPatienceMs, random = Math.random } = options;
  return {
    ask: async (ability, request, signal) => {
      const headers = { authorization: `Bearer ${token}`, "idempotency-key": randomUUID() };
      const patient = patience(ownWaitMs(ability, request) + patienceMs, signal);
      try {
        for (let attempt = 0; ; attempt += 1) {
          const posted = await postJson({
            ...{ socketPath: socket, path: `/run/${ability}`, headers, body: request },
            signal: patient.signal,
          }).catch((error: unknown) => notAnswered(error));
          if (answered(posted)) return answerIn(ability, posted);
          const limit = Math.min(shortestPauseMs * 2 ** attempt, longestPauseMs);
          // Not all runs at once, when a scheduler is back.
          await wait(limit * (0.5 + random() / 2), undefined, { signal: patient.signal });
        }
      } catch (error) {
        if (error instanceof RunApiError) throw error;
        if (signal.aborted && waits.has(ability)) giveUp(socket, headers);
        throw unavailable(signal, messageOf(error));
      } finally {
        patient.end();
      }
    },
  };
}

/** What is answered when something happens. */
const waits: ReadonlySet<RequestName> = new Set(["lock", "call-wait", "wait"]);
const cancelMs = 5_000;

/**
 * Tells the scheduler that nobody waits for the answer of a request any more. Without that it takes the broken
 * connection for a passing one, and what happens meanwhile goes to a run that doesn't ask for it again.
 */
function giveUp(socketPath: string, headers: Readonly<Record<string, string>>): void {
  const signal = AbortSignal.timeout(cancelMs);
  // Once: the scheduler gives it up by itself a little later.
  postJson({ socketPath, path: "/run/cancel", headers, body: {}, signal }).catch(() => undefined);
}

/** How long the scheduler itself may take for the answer, in ms. Without a limit it is the run's own end. */
function ownWaitMs(ability: RequestName, request: object): number {
  const { waitSeconds, timeoutSeconds } = request as Record<string, number | undefined>;
  if (ability === "lock") return (waitSeconds ?? 0) * 1000;
  if (ability !== "wait" && ability !== "call-wait") return 0;
  return (timeoutSeconds ?? Infinity) * 1000;
}

/**
 * A signal that aborts with another one, or when the time is up; `end` lets go of the timer. Counted in short steps,
 * so that the time in which a paused container stood still is none of it.
 */
function patience(ms: number, signal: AbortSignal): { signal: AbortSignal; end(): void } {
  const late = new AbortController();
  let leftMs = ms;
  const stepMs = Math.min(1000, ms);
  const timer = setInterval(() => {
    leftMs -= stepMs;
    if (leftMs <= 0) late.abort();
  }, stepMs);
  return { signal: AbortSignal.any([signal, late.signal]), end: () => clearInterval(timer) };
}

/** Nobody is there just now, or the connection broke; an abort is no reason to go on. */
function notAnswered(error: unknown): null {
  if (error instanceof Error && error.name === "AbortError") throw error;
  return null;
}

/** 5xx says: come again. */
function answered(posted: Posted | null): posted is Posted {
  return posted !== null && posted.status < 500;
}

function answerIn<A extends RequestName>(ability: A, { status, body }: Posted): RequestAnswer<A> {
  if (status !== 200) {
    const problem = runApiProblemSchema.safeParse(body);
    if (problem.success) throw new RunApiError(problem.data);
  }
  const answer = runRequests[ability].answer.safeParse(body);
  if (status === 200 && answer.success) return answer.data as RequestAnswer<A>;
  const detail = `the scheduler's answer (status ${status}) is none that this version knows`;
  throw new RunApiError({ error: "unavailable", detail });
}

function unavailable(signal: AbortSignal, why: string): RunApiError {
  const detail = signal.aborted
    ? "nobody waits for the answer any more"
    : `the scheduler did not answer in time (${why})`;
  return new RunApiError({ error: "unavailable", detail });
}
