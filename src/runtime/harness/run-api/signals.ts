import { z } from "zod";
import type { Job } from "../../../foundation/contracts/job.ts";
import { refusal } from "../../wire/protocol.ts";
import type { RunMessage } from "../../wire/run-messages.ts";
import { maxTextLength, schemaProblems } from "../../wire/requests/row.ts";
import { signalRequests } from "../../wire/requests/signals.ts";
import type { SignalName } from "../../wire/requests/table.ts";

export interface SignalDeps {
  readonly job: Job;
  readonly emit: (message: RunMessage) => void;
  readonly exit: SessionExit;
  /** Called with each return value of the run, redacted; the last one counts. */
  readonly onReturn: (value: unknown) => void;
  /** Removes secrets from a JSON-like value. */
  readonly redact: (value: unknown) => unknown;
}

type Body<N extends SignalName> = z.infer<ReturnType<(typeof signalRequests)[N]["request"]>>;

/** Implementations of the requests that the run performs itself. */
const performers: { readonly [N in SignalName]: (body: Body<N>, deps: SignalDeps) => void } = {
  status: ({ text }, { emit }) => emit({ type: "status", text: text.replace(/\s+/g, " ") }),
  return: ({ value = null }, { emit, redact, onReturn }) => {
    assertReturnable(value);
    const redacted = redact(value);
    onReturn(redacted);
    returnMessages(redacted).forEach(emit);
  },
  rerun: (_body, { job, emit }) => {
    const { kind } = job.trigger;
    if (kind === "cron") return emit({ type: "rerun" });
    throw refusal(
      "not_scheduled",
      `only a scheduled run can request a rerun; this run was started by a ${kind} trigger`,
    );
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
  throw refusal(
    "malformed",
    `the value has ${bytes} bytes as JSON; at most ${maxTextLength} are allowed`,
  );
}

type ReturnMessage = Extract<RunMessage, { type: "return" }>;

/** The most characters of one piece. As JSON in JSON each takes at most three bytes, and a line holds 30 KiB. */
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

/** How long the abort is delayed so that the request is still answered, in ms. */
const answerMs = 50;

export function createSessionExit() {
  let part = new AbortController();
  let asked: number | null = null;
  return {
    /** Begins a new phase of the run; the signal aborts when the agent asks to end. */
    begin: (): AbortSignal => {
      part = new AbortController();
      asked = null;
      return part.signal;
    },
    /** The exit code that the agent requested in this phase; null if it requested none. */
    code: (): number | null => asked,
    /** Ends the current phase. The first code counts. */
    ask: (code: number) => {
      if (asked !== null) return;
      asked = code;
      const current = part;
      setTimeout(() => current.abort(), answerMs);
    },
  };
}

/** Lets an agent end its own run. */
export type SessionExit = ReturnType<typeof createSessionExit>;
