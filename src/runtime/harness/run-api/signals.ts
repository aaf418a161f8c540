import { z } from "zod";
import type { Job } from "../../../foundation/contracts/job.ts";
import { refusal } from "../../../foundation/contracts/run-api.ts";
import type { RunMessage } from "../../../foundation/contracts/run-messages.ts";
import { maxTextLength } from "../../../foundation/contracts/run-requests/fields.ts";
import { signalRequests } from "../../../foundation/contracts/run-requests/signals.ts";
import type { SignalName } from "../../../foundation/contracts/run-requests/table.ts";
import { schemaProblems } from "../../../foundation/contracts/schema-problems.ts";

export interface SignalDeps {
  readonly job: Pick<Job, "trigger">;
  readonly emit: (message: RunMessage) => void;
  readonly exit: SessionExit;
  /** Takes secrets out of a JSON-like value. */
  readonly redact: (value: unknown) => unknown;
}

type Body<N extends SignalName> = z.infer<ReturnType<(typeof signalRequests)[N]["request"]>>;

/** What the run does for each of these requests. */
const performers: { readonly [N in SignalName]: (body: Body<N>, deps: SignalDeps) => void } = {
  status: ({ text }, { emit }) => emit({ type: "status", text: text.replace(/\s+/g, " ") }),
  return: ({ value = null }, { emit, redact }) => {
    assertReturnable(value);
    returnMessages(redact(value)).forEach(emit);
  },
  rerun: (_body, { job, emit }) => {
    const { kind } = job.trigger;
    if (kind === "cron") return emit({ type: "rerun" });
    const detail = `only a run that its schedule started is started again; this one came by a ${kind} trigger`;
    throw refusal("not_scheduled", detail);
  },
  exit: ({ code = 0 }, { exit }) => exit.ask(code),
};

/** Checks the request and performs it. */
export function performSignal(name: SignalName, input: unknown, deps: SignalDeps): void {
  const result = signalRequests[name].request(z).safeParse(input);
  if (!result.success) throw refusal("malformed", schemaProblems(result.error));
  const perform = performers[name] as (body: object, deps: SignalDeps) => void;
  perform(result.data, deps);
}

function assertReturnable(value: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= maxTextLength) return;
  const detail = `the value has ${bytes} bytes as JSON, and may have ${maxTextLength}`;
  throw refusal("malformed", detail);
}

type ReturnMessage = Extract<RunMessage, { type: "return" }>;

/** Characters of one piece. As JSON in JSON none becomes more than three bytes, and a line holds 30 KiB. */
const pieceCharacters = 8_000;

/** A value as messages, each of which fits into a line. */
function returnMessages(value: unknown): readonly ReturnMessage[] {
  const json = JSON.stringify(value);
  const pieces = json.match(new RegExp(`[^]{1,${pieceCharacters}}`, "g")) ?? [];
  return pieces.map((piece, index) => {
    const more = index < pieces.length - 1;
    return { type: "return", json: piece, more };
  });
}

/** How an agent ends its run by itself. */
export interface SessionExit {
  /** A new part of the run begins; the signal aborts when the agent asks to end. */
  begin(): AbortSignal;
  /** The exit code that was asked for in this part; null when none was. */
  code(): number | null;
  /** Ends what runs. The first code counts. */
  ask(code: number): void;
}

/** So that who asked still gets its answer, in ms. */
const answerMs = 50;

export function createSessionExit(): SessionExit {
  let part = new AbortController();
  let asked: number | null = null;
  return {
    begin: () => {
      part = new AbortController();
      asked = null;
      return part.signal;
    },
    code: () => asked,
    ask: (code) => {
      if (asked !== null) return;
      asked = code;
      const current = part;
      setTimeout(() => current.abort(), answerMs);
    },
  };
}
