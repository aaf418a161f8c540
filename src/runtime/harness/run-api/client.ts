import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import {
  refusal,
  RunApiError,
  runApiProblemSchema,
} from "../../../foundation/contracts/run-api.ts";
import type {
  RequestName,
  RequestAnswer,
  RequestBody,
} from "../../../foundation/contracts/run-api.ts";
import type { Fields, RequestRow } from "../../../foundation/contracts/run-requests/row.ts";
import { schedulerRequests } from "../../../foundation/contracts/run-requests/table.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { postJson } from "../post-json.ts";
import type { Posted } from "../post-json.ts";

/** Makes the requests of one run. */
export interface RunApiClient {
  /**
   * Resolves to the answer, however often the scheduler goes away meanwhile: the request is repeated under the same
   * key, and takes effect once. Rejects with a RunApiError when it is refused or not answered in time.
   */
  ask<N extends RequestName>(
    name: N,
    body: RequestBody<N>,
    signal: AbortSignal,
  ): Promise<RequestAnswer<N>>;
}

export interface RunApiClientOptions {
  /** Path of the socket as this process sees it. */
  readonly socket: string;
  readonly token: string;
  /** How long to wait for a scheduler that is away, beyond what the request itself waits, in ms. */
  readonly timeoutMs?: number;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/** Enough for a restart by hand. */
const defaultTimeoutMs = 120_000;
const minPauseMs = 100;
const maxPauseMs = 5_000;
const cancelMs = 5_000;

export function createRunApiClient(options: RunApiClientOptions): RunApiClient {
  const { socket, token, timeoutMs = defaultTimeoutMs, random = Math.random } = options;
  return {
    ask: async (name, body, signal) => {
      const headers = { authorization: `Bearer ${token}`, "idempotency-key": randomUUID() };
      const post = { socketPath: socket, path: `/run/${name}`, headers, body };
      const limit = timeLimit(waitMs(name, body) + timeoutMs, signal);
      try {
        for (let attempt = 0; ; attempt += 1) {
          const posted = await postJson({ ...post, signal: limit.signal }).catch(unlessAborted);
          // A 5xx answer asks to come again.
          if (posted !== null && posted.status < 500) return answerIn(name, posted);
          const pauseMs = Math.min(minPauseMs * 2 ** attempt, maxPauseMs);
          // Spread out, so that not all runs come at once when a scheduler is back.
          await wait(pauseMs * (0.5 + random() / 2), undefined, { signal: limit.signal });
        }
      } catch (error) {
        if (error instanceof RunApiError) throw error;
        if (signal.aborted && rowOf(name).waitSeconds !== undefined) cancel(socket, headers);
        throw unavailable(signal, messageOf(error));
      } finally {
        limit.end();
      }
    },
  };
}

function rowOf(name: RequestName): RequestRow {
  return schedulerRequests[name];
}

/**
 * Cancels a request whose answer the run no longer waits for. Without that the scheduler takes the broken connection
 * for a passing one, and what happens meanwhile goes to a run that doesn't ask for it again.
 */
function cancel(socketPath: string, headers: Readonly<Record<string, string>>): void {
  const signal = AbortSignal.timeout(cancelMs);
  // Once: the scheduler drops the request by itself a little later.
  postJson({ socketPath, path: "/run/cancel", headers, body: {}, signal }).catch(() => undefined);
}

/** How long the scheduler itself may take for the answer. Without a limit it is the run's own end. */
function waitMs(name: RequestName, body: Fields): number {
  const seconds = rowOf(name).waitSeconds?.(body) ?? 0;
  return Math.max(0, seconds || 0) * 1000;
}

/**
 * A signal that aborts with another one, or when the time is up; `end` releases the timer. Counted in short steps, so
 * that the time for which a container is paused does not count.
 */
function timeLimit(ms: number, signal: AbortSignal): { signal: AbortSignal; end(): void } {
  const late = new AbortController();
  let leftMs = ms;
  const stepMs = Math.min(1000, ms);
  const timer = setInterval(() => {
    leftMs -= stepMs;
    if (leftMs <= 0) late.abort();
  }, stepMs);
  return { signal: AbortSignal.any([signal, late.signal]), end: () => clearInterval(timer) };
}

/** Null when the scheduler is away or the connection broke: the request is tried again. */
function unlessAborted(error: unknown): null {
  if (error instanceof Error && error.name === "AbortError") throw error;
  return null;
}

/** Checks the answer: after an update, a run may live on under a scheduler of another version. */
function answerIn<N extends RequestName>(name: N, { status, body }: Posted): RequestAnswer<N> {
  if (status !== 200) {
    const problem = runApiProblemSchema.safeParse(body);
    if (problem.success) throw new RunApiError(problem.data);
  }
  const answer = rowOf(name).answer(z).safeParse(body);
  if (status === 200 && answer.success) return answer.data as RequestAnswer<N>;
  throw refusal("unavailable", `unexpected answer of the scheduler (status ${status})`);
}

function unavailable(signal: AbortSignal, why: string): RunApiError {
  const detail = signal.aborted
    ? "the request was cancelled"
    : `the scheduler did not answer in time (${why})`;
  return refusal("unavailable", detail);
}
