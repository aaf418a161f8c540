import { counted, outcomeText } from "../format.ts";
import type { Fields } from "./row.ts";
import type { ToolName } from "./table.ts";

/**
 * A piece of a log line: own words, or what came from a run. `code` is a name or a short value, `block` a text or
 * JSON on lines of its own, `text` words, `seconds` a length of time, `time` a moment (ISO 8601).
 */
export type LogPart =
  | string
  | { readonly code: unknown }
  | { readonly block: unknown }
  | { readonly text: unknown }
  | { readonly seconds: number }
  | { readonly time: unknown };
export type LogParts = readonly LogPart[];

/** What the dashboard's log shows in place of JSON. */
export interface LogRow {
  readonly request: (body: Fields) => LogParts;
  /** The log line of an answer that is not a refusal. */
  readonly answer: (answer: Fields) => LogParts;
}

/** A tool whose answer says no more than that the request was performed. */
const noAnswer = (): LogParts => [];

/** The words for each tool. Apart from the rest of its row: the log's page carries these alone. */
export const logRows: Readonly<Record<ToolName, LogRow>> = {
  al_status: { request: ({ text }) => ["says ", { code: text }], answer: noAnswer },
  al_return: { request: ({ value }) => ["returns", { block: value }], answer: noAnswer },
  al_exit: {
    request: ({ code }) => [`ends the run with code ${Number(code ?? 0)}`],
    answer: noAnswer,
  },
  al_rerun: { request: () => ["asks to be run again"], answer: noAnswer },
  al_lock: {
    request: ({ resource, waitSeconds }) => [
      "locks ",
      { code: resource },
      ...limitParts(", and waits for it up to ", waitSeconds),
    ],
    answer: ({ expiresAt, fencingToken }) => [
      "has it until ",
      { time: expiresAt },
      ` · fencing token ${Number(fencingToken)}`,
    ],
  },
  al_unlock: {
    request: ({ resource }) => ["frees ", { code: resource }],
    answer: () => ["it is free"],
  },
  al_lock_heartbeat: {
    request: ({ resource }) => ["keeps ", { code: resource }],
    answer: ({ expiresAt }) => ["has it until ", { time: expiresAt }],
  },
  al_call: {
    request: ({ agent, context }) => ["calls ", { code: agent }, " with", { block: context }],
    answer: ({ callId, state }) => [`it is ${String(state)} · call `, { code: callId }],
  },
  al_call_check: {
    request: (body) => [`asks what became of ${callsOf(body)}`],
    answer: calledParts,
  },
  al_call_wait: {
    request: (body) => [
      `waits for ${callsOf(body)} to end`,
      ...limitParts(", for up to ", body.timeoutSeconds),
    ],
    answer: calledParts,
  },
  wait_for_trigger: { request: waitParts, answer: waitedParts },
};

/** A time limit after the words that lead to it; nothing where there is no limit. */
function limitParts(words: string, seconds: unknown): LogParts {
  return typeof seconds === "number" && seconds > 0 ? [words, { seconds }] : [];
}

function callsOf({ callIds: ids }: Fields): string {
  return Array.isArray(ids) ? counted(ids.length, "call") : "calls";
}

function calledParts({ calls, timedOut }: Fields): LogParts {
  const each = (Array.isArray(calls) ? (calls as (Fields | null)[]) : []).flatMap((call) =>
    calledAgentParts(call ?? {}),
  );
  return timedOut === true ? ["not all ended in time. ", ...each] : each;
}

function calledAgentParts({ agent, outcome, state, reason, value }: Fields): readonly LogPart[] {
  const word = outcomeText(String(outcome ?? state));
  const why = typeof reason === "string" ? `: ${reason}` : "";
  const returned = value === null || value === undefined ? [] : [{ block: value }];
  return [{ code: agent }, { text: ` ${word}${why}. ` }, ...returned];
}

function waitParts({ kind, source, event, where: conditions, timeoutSeconds }: Fields): LogParts {
  const pairs = Object.entries(conditions ?? {}).map(
    ([path, value]) => `${path} = ${JSON.stringify(value)}`,
  );
  return [
    kind === "agent-call" ? "waits for a call" : "waits for a webhook",
    ...(typeof event === "string" ? [" ", { code: event }] : []),
    ...(typeof source === "string" ? [" from ", { code: source }] : []),
    ...(pairs.length === 0 ? [] : [" with ", { code: pairs.join(", ") }]),
    ...limitParts(", for up to ", timeoutSeconds),
  ];
}

function waitedParts({ timedOut, limited, trigger }: Fields): LogParts {
  if (timedOut !== true) return ["it came", { block: trigger }];
  const within = limitParts(" (", (limited as Fields | undefined)?.timeoutSeconds);
  return [
    "nothing came in time",
    ...within,
    within.length === 0 ? "" : ", as it may not wait longer)",
  ];
}
