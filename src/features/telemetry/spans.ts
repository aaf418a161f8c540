import type { LogEntry, RunEvent } from "../../../streams/vocabulary.ts";
import { kindOf } from "../../foundation/contracts/log-kinds.ts";
import type { MeteredCall } from "../../foundation/contracts/spend.ts";
import { callSpan } from "./call-span.ts";
import { runSpans, triggerSpan } from "./run-spans.ts";
import { attributes, longestContent, type Attributes, type Span } from "./span.ts";
import { toolSpan, type Caller, type OpenCall, type ToolCall } from "./tool-span.ts";
import { traceIdOf } from "./trace-ids.ts";

interface TracedRun extends Caller {
  readonly calls: Map<string, OpenCall>;
  /** Empty without `content`. */
  prompt: string;
  /** The model's last text; empty without `content`. */
  answer: string;
}

/** How many ended runs are remembered: a call to a model may end after its run. */
const mostEnded = 500;
/** How many calls without a result are remembered of a run. */
const mostOpenCalls = 200;

/** Turns events, without secrets, into spans. Without `content` they hold no text of a prompt, a model or a tool. */
export function createSpans({ content }: { readonly content: boolean }) {
  const live = new Map<string, TracedRun>();
  /** Their trace ids. */
  const ended = new Map<string, string>();

  const started = ({ instanceId, item, agent }: Extract<RunEvent, { type: "started" }>): void => {
    const caller = { traceId: traceIdOf(item), instanceId, agent };
    live.set(instanceId, { ...caller, calls: new Map(), prompt: "", answer: "" });
  };
  const finished = (event: Extract<RunEvent, { type: "finished" }>): readonly Span[] => {
    const { instanceId, item, at, end } = event;
    const run = live.get(instanceId);
    live.delete(instanceId);
    ended.set(instanceId, traceIdOf(item));
    if (ended.size > mostEnded) ended.delete(ended.keys().next().value ?? "");
    if (run === undefined) return runSpans(event);
    const open = [...run.calls].map(([id, call]) =>
      toolSpan(run, { id, ...call, endMs: at, failure: end.outcome, output: null }),
    );
    return [...open, ...runSpans(event, contentOf(run))];
  };
  const logged = (run: TracedRun, entry: LogEntry): readonly Span[] => {
    const { calls } = run;
    const id = textOf(entry.call);
    switch (kindOf(entry)) {
      case "said":
        if (content) run.answer = entry.msg;
        return [];
      case "prompt":
        if (content && run.prompt.length < longestContent) run.prompt += textOf(entry.output);
        return [];
      case "tool": {
        const input = content ? JSON.stringify(entry.input ?? null) : null;
        if (calls.size < mostOpenCalls)
          calls.set(id, { tool: nameOf(entry.tool), startMs: entry.time, input });
        return [];
      }
      case "tool-result": {
        const input = calls.get(id)?.input ?? null;
        calls.delete(id);
        return [toolSpan(run, { id, input, ...resultOf(entry, content) })];
      }
      default:
        return [];
    }
  };

  return {
    /** The spans that end with the event. */
    onEvent: (event: RunEvent): readonly Span[] => {
      switch (event.type) {
        case "started":
          started(event);
          return [];
        case "output": {
          const run = live.get(event.instanceId ?? "");
          return run === undefined ? [] : logged(run, event.entry);
        }
        case "finished":
          return finished(event);
        case "refused":
          return [triggerSpan(event.item, event.at, event)];
        case "missed":
          return event.items.map(({ item, reason }) =>
            triggerSpan(item, event.at, { outcome: event.type, reason }),
          );
        case "taken":
          return [triggerSpan(event.item, event.at, { outcome: "taken", reason: null })];
        default:
          return [];
      }
    },
    /** The span of an ended call to a model; none if its run is not known. */
    onCall: (call: MeteredCall): readonly Span[] => {
      const traceId = live.get(call.instanceId)?.traceId ?? ended.get(call.instanceId);
      return traceId === undefined ? [] : [callSpan(call, traceId)];
    },
  };
}

/** The result also says when its call began: an earlier scheduler may have read that line. */
function resultOf(entry: LogEntry, content: boolean): Omit<ToolCall, "id" | "input"> {
  const { time: endMs, durationMs, tool, isError, output } = entry;
  const ms = typeof durationMs === "number" ? Math.max(0, durationMs) : 0;
  return {
    tool: nameOf(tool),
    startMs: endMs - ms,
    endMs,
    failure: isError === true ? "tool_error" : null,
    output: content ? textOf(output) : null,
  };
}

function contentOf({ prompt, answer }: TracedRun): Attributes {
  const messages = {
    "gen_ai.input.messages": prompt === "" ? null : message("user", prompt),
    "gen_ai.output.messages": answer === "" ? null : message("assistant", answer),
  };
  return attributes(messages, Infinity);
}

/** A list of one message, as the conventions write it. */
function message(role: "user" | "assistant", text: string): string {
  const parts = [{ type: "text", content: text.slice(0, longestContent) }];
  const end = role === "assistant" ? { finish_reason: "stop" } : {};
  return JSON.stringify([{ role, parts, ...end }]);
}

/** Fields of a run's log lines may be anything. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const nameOf = (tool: unknown): string => textOf(tool).slice(0, 100) || "tool";
