import type { Question } from "../../foundation/contracts/questions.ts";
import type { LogLine } from "../../foundation/logs/log-query.ts";
import type { RunCall } from "../../features/spend/call-totals.ts";
import { isoTime } from "../../../streams/iso-times.ts";
import { errorLevel, nameOf, noAmounts, stepsOfLog, type Step } from "./log-steps.ts";
import type { TraceStep, TraceView } from "./trace-view.ts";

/** The records of a run. Times are epoch ms. */
export interface TraceRecords {
  readonly instanceId: string;
  /** When its trigger came. */
  readonly at: number;
  /** Null while it is queued. */
  readonly startedAt: number | null;
  /** Null while it runs. */
  readonly endedAt: number | null;
  readonly now: number;
  /** The log, the oldest line first. */
  readonly lines: readonly LogLine[];
  /** Whether these are all lines. */
  readonly isWhole: boolean;
  /** The calls to models, the oldest first. */
  readonly calls: readonly RunCall[];
  readonly questions: readonly Question[];
}

/** The steps of a run, from its log, its calls to models and its questions. */
export function traceOf(records: TraceRecords): TraceView {
  const { instanceId, at, startedAt, endedAt, now, lines, isWhole } = records;
  const until = endedAt ?? now;
  const steps = stepsWithin(records).sort((a, b) => a.at - b.at);
  const all = [firstStep(records, steps[0]?.at ?? null), ...steps].map((step) =>
    // A step that is open when its run ends, ended with it.
    step.end === null && endedAt !== null ? { ...step, end: Math.max(endedAt, step.at) } : step,
  );
  return {
    instanceId,
    at: isoTime(startedAt ?? at),
    until: isoTime(until),
    isOver: endedAt !== null,
    ...boundedSteps(all),
    firstError: lines.find(({ entry }) => entry.level >= errorLevel)?.id ?? null,
    isWhole,
  };
}

/** The scheduler's tool that asks people, by the names that harnesses give it. */
const askTool = /^(\w+_)?al_ask\b/;

function stepsWithin({ lines, calls, questions }: TraceRecords): Step[] {
  const asked = questions.map((question) => questionStep(question, lines));
  const isAsking = ({ kind, name, at, end }: Step): boolean =>
    kind === "tool" &&
    askTool.test(name) &&
    asked.some((one) => one.at >= at && (end === null || one.at <= end));
  // A question says more than the tool that asks it.
  const ofLog = stepsOfLog(lines, calls.length === 0).filter((step) => !isAsking(step));
  return [...ofLog, ...stepsOfCalls(calls, lines), ...asked];
}

/** The start up to the next step, or the wait for it. */
function firstStep({ at, startedAt, lines }: TraceRecords, next: number | null): Step {
  if (startedAt === null) return { ...noAmounts, kind: "queued", name: "queued", at, end: null };
  const position = lines[0]?.id ?? null;
  const end = next === null ? null : Math.max(startedAt, next);
  return { ...noAmounts, kind: "start", name: "start", at: startedAt, end, position };
}

/** Calls to models, of which those with an answer are the turns. */
function stepsOfCalls(calls: readonly RunCall[], lines: readonly LogLine[]): readonly Step[] {
  let turns = 0;
  return calls.map((call) => {
    const { at, totalMs, model, tokens, usd } = call;
    const failure = failureOf(call);
    const end = totalMs === null ? null : at + totalMs;
    const rest = { at, end, tokens, usd, failure, position: positionAt(at, lines) };
    return failure === null
      ? { kind: "model", name: `turn ${++turns}: ${model}`, ...rest }
      : { kind: "retry", name: model, ...rest };
  });
}

/** Null for a call that is open, or has its answer. */
function failureOf({ totalMs, status }: RunCall): string | null {
  if (totalMs === null) return null;
  if (status === null) return "no answer";
  return status < 400 ? null : `status ${status}`;
}

/** The line that follows a moment, or the last one before it. */
function positionAt(at: number, lines: readonly LogLine[]): string | null {
  return (lines.find(({ entry }) => entry.time >= at) ?? lines.at(-1))?.id ?? null;
}

function questionStep(question: Question, lines: readonly LogLine[]): Step {
  const { prompt, at, answeredAt, until, state } = question;
  const end = answeredAt ?? (state === "open" ? null : until);
  const position = positionAt(at, lines);
  return { ...noAmounts, kind: "question", name: nameOf(prompt), at, end, position };
}

/** How many steps a trace shows from its beginning and from its end. */
const shown = { first: 200, last: 100 };

function boundedSteps(steps: readonly Step[]): Pick<TraceView, "steps" | "leftOut"> {
  const { first, last } = shown;
  if (steps.length <= first + last) return { steps: steps.map(viewOf), leftOut: null };
  const rest = steps.slice(first, -last);
  const kept = [...steps.slice(0, first), ...steps.slice(-last)];
  return {
    steps: kept.map(viewOf),
    leftOut: {
      after: first,
      count: rest.length,
      tokens: sumOf(rest.map(({ tokens }) => tokens)),
      usd: sumOf(rest.map(({ usd }) => usd)),
    },
  };
}

/** The sum of those that are known; null if none is. */
function sumOf(amounts: readonly (number | null)[]): number | null {
  const known = amounts.filter((amount) => amount !== null);
  return known.length === 0 ? null : known.reduce((sum, amount) => sum + amount, 0);
}

function viewOf({ at, end, ...step }: Step): TraceStep {
  return { ...step, at: isoTime(at), durationMs: end === null ? null : end - at };
}
