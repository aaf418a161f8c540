import { durationText } from "../../../streams/duration-text.ts";
import { dollars } from "../../features/spend/spend-text.ts";
import { counted } from "../../foundation/contracts/format.ts";
import { plainText } from "../../foundation/contracts/plain-text.ts";
import type { TraceStep, TraceView } from "../../runtime/runs/trace-view.ts";

/** A step of a run as a row of a waterfall, in words for a person. */
export interface TraceRow {
  readonly key: string;
  /** Null for steps that are summed up. */
  readonly kind: TraceStep["kind"] | null;
  readonly name: string;
  /** Whether it happened within a turn. */
  readonly isInner: boolean;
  /** The begin and the length as shares of the whole run; null without a place. */
  readonly bar: { readonly from: number; readonly share: number } | null;
  readonly time: string;
  readonly tokens: string;
  readonly cost: string;
  readonly failure: string | null;
  readonly position: string | null;
}

/** The rows of a trace. */
export function traceRows(trace: TraceView): readonly TraceRow[] {
  const rows = trace.steps.map((step, index) => rowOf(step, index, trace));
  const { leftOut } = trace;
  if (leftOut === null) return rows;
  const rest: TraceRow = {
    key: "rest",
    kind: null,
    name: `… ${counted(leftOut.count, "more step")}`,
    isInner: false,
    bar: null,
    time: "",
    ...amountsOf(leftOut),
    failure: null,
    position: null,
  };
  return rows.toSpliced(leftOut.after, 0, rest);
}

/** How long the run took, or has taken so far, in ms. */
export function traceMs({ at, until }: TraceView): number {
  return Math.max(1, Date.parse(until) - Date.parse(at));
}

function rowOf(step: TraceStep, index: number, trace: TraceView): TraceRow {
  const { kind, name, at, durationMs, failure, position } = step;
  const total = traceMs(trace);
  const began = Math.max(0, Date.parse(at) - Date.parse(trace.at));
  const ms = durationMs ?? Math.max(0, total - began);
  return {
    key: `${index} ${at}`,
    kind,
    name: plainText(name),
    isInner: kind === "tool" || kind === "question" || kind === "retry",
    bar: { from: Math.min(1, began / total), share: Math.min(1, ms / total) },
    time: `${durationText(ms)}${durationMs === null ? " …" : ""}`,
    ...amountsOf(step),
    failure: failure === null ? null : plainText(failure),
    position,
  };
}

function amountsOf({ tokens, usd }: Pick<TraceStep, "tokens" | "usd">) {
  return {
    tokens: tokens === null ? "" : tokens.toLocaleString("en"),
    cost: usd === null ? "" : dollars(usd),
  };
}
