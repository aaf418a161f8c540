import { isoTime } from "../iso-times.ts";
import { durationText } from "../duration-text.ts";
import { lateText, slotsText } from "../late-text.ts";
import { problemText } from "../problem-text.ts";
import type { LogEntry, LogLevel, Diagnostic, RunEvent, Trigger, WorkItem } from "../vocabulary.ts";
import { isError, outcomeText } from "../outcomes.ts";

type Line = { readonly level: LogLevel; readonly msg: string } & Readonly<Record<string, unknown>>;

/** The entries of an event in its agent's log: the output of a run unchanged, or lines about the scheduler's actions. */
export function logEntriesOf(event: RunEvent): readonly LogEntry[] {
  if (event.type === "output") return [event.entry];
  return linesOf(event).map((line) => ({ time: event.at, agent: event.agent, ...line }));
}

function linesOf(event: Exclude<RunEvent, { type: "output" }>): readonly Line[] {
  switch (event.type) {
    case "agent-set":
    case "agent-invalid":
    case "agent-removed":
    case "agent-enabled":
      return configLines(event);
    case "agent-requirements":
      return event.unmet.length > 0
        ? problemLines(event.unmet)
        : [{ level: 30, msg: "all requirements of its runs are met" }];
    case "build-started":
    case "build-progress":
      return [{ level: 30, msg: event.text }];
    case "build-finished":
      return event.error === null ? [] : [{ level: 50, msg: event.error }];
    case "queued":
      return [queuedLine(event)];
    case "refused":
      return [{ level: 40, msg: `${event.outcome}: ${event.reason}` }];
    case "missed":
      // A stop misses ticks as a rule; the history and the alerts have them.
      return [{ level: 30, msg: `missed: ${event.reason}` }];
    case "late":
      return [{ level: 30, msg: `missed runs to start, one after another: ${event.slots.length}` }];
    case "taken": {
      const msg = `${triggerText(event.item.trigger)} delivered to a waiting run; no new run started`;
      return [{ level: 30, msg, ...callFields(event.item) }];
    }
    case "started":
      return [startLine(event)];
    case "finished":
      return [endLine(event)];
    case "used-budget":
      return [{ level: event.budget === null ? 30 : 40, msg: event.text }];
    case "blocked":
      return [blockedLine(event)];
    case "next-run":
    case "queue-depth":
    case "gathering":
    case "status-text":
    case "spent":
    case "ending":
      return [];
  }
}

function queuedLine({ item, isPaused }: Extract<RunEvent, { type: "queued" }>): Line {
  const state = isPaused === true ? "waits until new work is resumed, triggered" : "queued";
  const msg = `${state} ${originText(item, slotsText(item))}`;
  return { level: 30, msg, ...callFields(item) };
}

type ConfigEvent = Extract<
  RunEvent,
  { type: "agent-set" | "agent-invalid" | "agent-removed" | "agent-enabled" }
>;

function configLines(event: ConfigEvent): readonly Line[] {
  switch (event.type) {
    case "agent-set":
      return [
        { level: 30, msg: event.summary },
        ...event.warnings.map((problem): Line => ({ level: 40, msg: problemText(problem) })),
      ];
    case "agent-invalid":
      return problemLines(event.problems);
    case "agent-removed":
      return [{ level: 40, msg: "directory removed" }];
    case "agent-enabled":
      return [{ level: 30, msg: event.enabled ? "enabled" : "disabled" }];
  }
}

function problemLines(problems: readonly Diagnostic[]): readonly Line[] {
  return problems.map((problem) => ({
    level: problem.severity === "error" ? 50 : 40,
    msg: problemText(problem),
  }));
}

function startLine(event: Extract<RunEvent, { type: "started" }>): Line {
  const { instanceId, item, startedAt } = event;
  const origin = originText(item, startedAt === undefined ? lateText(item, event.at) : null);
  return {
    level: 30,
    // A run that an earlier scheduler started.
    msg:
      startedAt === undefined
        ? `run started ${origin}`
        : `run resumed, started ${origin} ${durationText(event.at - startedAt)} ago`,
    instanceId,
    kind: "run",
    trigger: triggerFields(item.trigger),
    ...(item.replayOf === undefined ? {} : { replayOf: item.replayOf }),
  };
}

function blockedLine({ reason, instanceId }: Extract<RunEvent, { type: "blocked" }>): Line {
  if (reason === null) return { level: 30, msg: "the machine can start the run again", instanceId };
  const msg = `the machine can't start the run now: ${reason}; it starts as soon as possible`;
  return { level: 40, msg, instanceId };
}

function endLine(event: Extract<RunEvent, { type: "finished" }>): Line {
  const { outcome, exitCode, reason, usage } = event.end;
  const durationMs = event.at - event.startedAt;
  const level = outcome === "succeeded" ? 30 : isError(outcome) ? 50 : 40;
  // A rejected run never started.
  const after = outcome === "rejected" ? "" : ` after ${durationText(durationMs)}`;
  const why = reason === null ? "" : `: ${reason}`;
  const msg = `run ${outcomeText(outcome)}${after}${why}`;
  const { instanceId } = event;
  return { level, msg, instanceId, kind: "run", outcome, exitCode, durationMs, ...usage };
}

/** The trigger in a run's first line. A long prompt is cut where the line is written, after redaction. */
function triggerFields(trigger: Trigger): Readonly<Record<string, unknown>> {
  const { kind } = trigger;
  switch (kind) {
    case "cron":
      return { kind, scheduledFor: isoTime(trigger.scheduledFor) };
    case "webhook": {
      const { action, repo, number, title, url, receiptId } = trigger.event;
      return { kind, action, repo, number, title, url, receiptId };
    }
    case "agent-call":
      return { kind, callerInstance: trigger.callerInstance };
    case "manual":
      return { kind, prompt: trigger.prompt ?? null };
  }
}

/** The caller is a field and stands in no text: answers to API tokens leave it out. */
function callFields({ trigger }: WorkItem): Readonly<Record<string, unknown>> {
  return trigger.kind === "agent-call" ? { trigger: triggerFields(trigger) } : {};
}

function triggerText(trigger: Trigger): string {
  switch (trigger.kind) {
    case "cron":
      if (trigger.rerun !== undefined) return "its rerun request";
      return trigger.late === undefined ? "its schedule" : `a ${trigger.late} of its schedule`;
    case "webhook":
      return `${trigger.event.type} webhook ${trigger.event.event}`;
    case "agent-call":
      return "a call";
    case "manual":
      return "a manual trigger";
  }
}

/**
 * The trigger of a run: `by its schedule`, `manually, attempt 2`; a replay names its entry of the history. `late` is why it
 * waits, or how late it is.
 */
function originText(
  { trigger, attempt, replayOf, gathered }: WorkItem,
  late: string | null,
): string {
  const origin = trigger.kind === "manual" ? "manually" : `by ${triggerText(trigger)}`;
  return [
    origin,
    ...(gathered === undefined ? [] : [`the latest of ${gathered.length} deliveries`]),
    ...(replayOf === undefined ? [] : [`a replay of ${replayOf}`]),
    ...(attempt === 1 ? [] : [`attempt ${attempt}`]),
    ...(late === null ? [] : [late]),
  ].join(", ");
}
