import { randomUUID } from "node:crypto";
import { z } from "zod";
import { refusal, runApiProblemSchema } from "../../wire/protocol.ts";
import type { RequestName, RequestAnswer, RequestBody } from "../../wire/protocol.ts";
import type { RequestRow } from "../../wire/requests/row.ts";
import { schedulerRequests } from "../../wire/requests/table.ts";
import { messageOf, Problem } from "../../../foundation/errors.ts";
import { repeatWhileAway, type RunSocket } from "../bridge/while-away.ts";
import { postJson, type Posted } from "../../wire/post-json.ts";

/** Makes the requests of one run. */
export interface RunApiClient {
  /**
   * Resolves to the answer even if the scheduler restarts meanwhile: the request is repeated with the same key, and
   * takes effect once. Rejects with a Problem if it is refused or the scheduler stays down.
   */
  ask<N extends RequestName>(
    name: N,
    body: RequestBody<N>,
    signal: AbortSignal,
  ): Promise<RequestAnswer<N>>;
}

/** `pauses` is how often to wait for a scheduler that is down. */
export function createRunApiClient(runSocket: RunSocket, pauses?: number): RunApiClient {
  const { socket: socketPath, token } = runSocket;
  return {
    ask: async (name, body, signal) => {
      const headers = { authorization: `Bearer ${token}`, "idempotency-key": randomUUID() };
      const attempt = async () => {
        const posted = await postJson({ socketPath, path: `/run/${name}`, headers, body, signal });
        // The scheduler is starting or stopping, or failed.
        return posted.status >= 500 ? null : posted;
      };
      try {
        const most = rowOf(name).isVital === true ? Infinity : pauses;
        const posted = await repeatWhileAway(runSocket, signal, attempt, most);
        if (posted !== null) return answerIn(name, posted);
      } catch (error) {
        if (error instanceof Problem) throw error;
        if (!signal.aborted) throw refusal("unavailable", messageOf(error));
      }
      if (rowOf(name).canWait === true) cancel(socketPath, headers);
      throw refusal("unavailable", "the request was cancelled");
    },
  };
}

function rowOf(name: RequestName): RequestRow {
  return schedulerRequests[name];
}

const cancelMs = 5_000;

/**
 * Cancels a request whose answer the run no longer awaits. Otherwise the scheduler would expect the run to reconnect,
 * and deliver a trigger that the run never collects.
 */
function cancel(socketPath: string, headers: Readonly<Record<string, string>>): void {
  const signal = AbortSignal.timeout(cancelMs);
  // Sent once: the scheduler drops the request by itself a little later.
  postJson({ socketPath, path: "/run/cancel", headers, body: {}, signal }).catch(() => undefined);
}

/** Validates the answer: after an update, the scheduler may have another version than the run. */
function answerIn<N extends RequestName>(name: N, { status, body }: Posted): RequestAnswer<N> {
  if (status !== 200) {
    const problem = runApiProblemSchema.safeParse(body);
    if (problem.success) {
      const { error, detail, ...members } = problem.data;
      throw refusal(error, detail, members);
    }
  }
  const answer = rowOf(name).answer(z).safeParse(body);
  if (status === 200 && answer.success) return answer.data as RequestAnswer<N>;
  throw refusal("unavailable", `unexpected answer of the scheduler (status ${status})`);
}
