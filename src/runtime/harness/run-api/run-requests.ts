import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../../../foundation/contracts/job.ts";
import { Problem } from "../../../foundation/errors.ts";
import {
  maxRequestBytes,
  refusal,
  type RequestAnswer,
  type RequestBody,
} from "../../wire/protocol.ts";
import { runRequests, schedulerRequests } from "../../wire/requests/table.ts";
import type { RequestRow } from "../../wire/requests/row.ts";
import type { RequestName, RunRequestName } from "../../wire/requests/table.ts";
import { shortEvent } from "../prompt.ts";
import type { RunMemory } from "../run-memory.ts";
import type { RunApiClient } from "./client.ts";
import { performSignal, type SignalDeps } from "./signals.ts";

/** One JSON object; `ok` is true. */
export type Answer = Readonly<Record<string, unknown>>;

/** Performs an agent's requests, which a tool or a command makes. */
export interface RunRequests {
  /** Rejects with a Problem if the request is refused. */
  perform(name: string, input: unknown, signal: AbortSignal): Promise<Answer>;
}

export interface RunRequestsDeps extends SignalDeps {
  readonly job: Job;
  readonly client: RunApiClient;
  /** Null without memories. */
  readonly memory: Pick<RunMemory, "answer"> | null;
}

export function createRunRequests(deps: RunRequestsDeps): RunRequests {
  const { client, job, memory } = deps;
  return {
    perform: async (name, input, signal) => {
      if (!isRequest(name)) throw refusal("malformed", `there is no request "${name}"`);
      if (name === "memory-check") {
        if (memory === null) throw refusal("disabled", "This agent has no [memory].");
        return memory.answer();
      }
      if (!isForScheduler(name)) {
        performSignal(name, input, deps);
        return { ok: true };
      }
      assertSize(input);
      // The scheduler validates the body.
      const answer = await client.ask(name, input as RequestBody<RequestName>, signal);
      if (name === "call-files") {
        const [files, asked] = [
          answer as RequestAnswer<"call-files">,
          input as RequestBody<"call-files">,
        ];
        // Few runs need it.
        const { withReceivedFiles } = await import("./received-files.ts");
        return withReceivedFiles(files, asked, job, signal);
      }
      return name === "wait" ? withPayloadFile(answer, job) : answer;
    },
  };
}

/** The refusal as an answer for a model or a program; rethrows any other error. */
export function refusedAnswer(error: unknown): Answer {
  if (!(error instanceof Problem)) throw error;
  return { ok: false, error: error.code, detail: error.message, ...error.members };
}

/** False for a request of the harness itself: an agent must not take the messages of people. */
function isRequest(name: string): name is RunRequestName {
  const rows: Readonly<Record<string, RequestRow>> = runRequests;
  return Object.hasOwn(rows, name) && rows[name]?.isOfHarness !== true;
}

function isForScheduler(name: RunRequestName): name is RequestName {
  return Object.hasOwn(schedulerRequests, name);
}

/** Rejects long bodies early: the scheduler would close the connection, and the client would retry. */
function assertSize(input: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(input ?? null));
  if (bytes <= maxRequestBytes) return;
  throw refusal(
    "malformed",
    `the request has ${bytes} bytes; at most ${maxRequestBytes} are allowed`,
  );
}

/**
 * The answer to a wait, with the trigger in the form of a prompt's: the webhook's whole body, which may be long, is
 * written to `payloadFile`.
 */
async function withPayloadFile(answer: Answer, { workDir }: Job): Promise<Answer> {
  const { trigger } = answer as { trigger?: Record<string, unknown> | null };
  if (trigger?.kind !== "webhook" || trigger.payload === undefined) return answer;
  const { payload, body, ...event } = trigger;
  const payloadFile = join(workDir, `webhook-payload-${randomUUID().slice(0, 8)}`);
  const text = typeof payload === "string" ? payload : JSON.stringify(payload, null, 2);
  await writeFile(payloadFile, text, { mode: 0o600 });
  const short = shortEvent({ body: typeof body === "string" ? body : null }, payloadFile);
  return { ...answer, trigger: { ...event, payloadFile, ...short } };
}
