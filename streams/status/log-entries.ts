import { problemText } from "../problem-text.ts";
import type { LogEntry, LogLevel, Problem, RunEvent, Trigger, WorkItem } from "../vocabulary.ts";
import { isEndedOnPurpose } from "./agent-record.ts";

type Told = { readonly level: LogLevel; readonly msg: string } & Readonly<Record<string, unknown>>;

/** Characters of a prompt that a line tells. */
const shownPrompt = 500;

/**
 * The lines that an event leaves in its agent's log. What a run says of itself passes as it is; what the scheduler
 * does with the agent is put in words here.
 */
export function logEntriesOf(event: RunEvent): readonly LogEntry[] {
  if (event.type === "output") return [event.entry];
  return tell(event).map((told) => ({ time: event.at, agent: event.agent, ...told }));
}

/** Exhaustive by its type: a new kind of event has to say whether it leaves a line. */
function tell(event: Exclude<RunEvent, { type: "output" }>): readonly Told[] {
  switch (event.type) {
    case "agent-set":
    case "agent-invalid":
    case "agent-removed":
    case "agent-enabled":
      return tellConfig(event);
    case "agent-requirements":
      return event.unmet.length > 0
        ? problemLines(event.unmet)
        : [{ level: 30, msg: "nothing that its runs need is missing any more" }];
    case "build-started":
    case "build-progress":
      return [{ level: 30, msg: event.text }];
    case "build-finished":
      return event.error === null ? [] : [{ level: 50, msg: event.error }];
    case "queued":
      return [
        { level: 30, msg: `queued: ${triggerText(event.item.trigger)}${againText(event.item)}` },
      ];
    case "refused":
      return [{ level: 40, msg: `${event.outcome}: ${event.reason}` }];
    case "taken": {
      const what = triggerText(event.item.trigger);
      return [{ level: 30, msg: `no run for ${what}: one that lives waited for it` }];
    }
    case "started":
    case "finished":
      return [tellRun(event)];
    case "next-run":
    case "queue-depth":
    case "status-text":
      return [];
  }
}

type ConfigEvent = Extract<
  RunEvent,
  { type: "agent-set" | "agent-invalid" | "agent-removed" | "agent-enabled" }
>;

function tellConfig(event: ConfigEvent): readonly Told[] {
  switch (event.type) {
    case "agent-set":
      return [
        { level: 30, msg: event.summary },
        ...event.warnings.map((problem): Told => ({ level: 40, msg: problemText(problem) })),
      ];
    case "agent-invalid":
      return problemLines(event.problems);
    case "agent-removed":
      return [{ level: 40, msg: "directory removed" }];
    case "agent-enabled":
      return [{ level: 30, msg: event.enabled ? "enabled" : "disabled" }];
  }
}

function problemLines(problems: readonly Problem[]): readonly Told[] {
  return problems.map((problem) => ({
    level: problem.severity === "error" ? 50 : 40,
    msg: problemText(problem),
  }));
}

function tellRun(event: Extract<RunEvent, { type: "started" | "finished" }>): Told {
  const { instanceId } = event;
  if (event.type === "started") {
    const trigger = `${triggerText(event.item.trigger)}${againText(event.item)}`;
    const begun = event.startedAt === undefined ? null : event.at - event.startedAt;
    const msg =
      begun === null
        ? `run started by ${trigger}`
        : `run goes on, started by ${trigger} ${seconds(begun)} ago`;
    const { replayOf } = event.item;
    const replay = replayOf === undefined ? {} : { replayOf };
    const facts = triggerFacts(event.item.trigger);
    return { level: 30, msg, instanceId, kind: "run", trigger: facts, ...replay };
  }
  const { outcome, exitCode, reason, usage } = event.end;
  const durationMs = event.at - event.startedAt;
  const why = reason === null ? "" : `: ${reason}`;
  const level = outcome === "succeeded" ? 30 : isEndedOnPurpose(outcome) ? 40 : 50;
  // One that was rejected never began.
  const after = outcome === "rejected" ? "" : ` after ${seconds(durationMs)}`;
  const msg = `run ${outcome.replaceAll("_", " ")}${after}${why}`;
  return { level, msg, instanceId, kind: "run", outcome, exitCode, durationMs, ...usage };
}

/** What a reader wants to know of the trigger beside its kind; a prompt may be long and is cut. */
function triggerFacts(trigger: Trigger): Readonly<Record<string, unknown>> {
  const { kind } = trigger;
  switch (kind) {
    case "cron":
      return { kind, scheduledFor: new Date(trigger.scheduledFor).toISOString() };
    case "webhook": {
      const { action, repo, number, title, url, receiptId } = trigger.event;
      return { kind, action, repo, number, title, url, receiptId };
    }
    case "agent-call":
      return { kind, callerInstance: trigger.callerInstance };
    case "manual":
      return { kind, prompt: trigger.prompt?.slice(0, shownPrompt) ?? null };
  }
}

function triggerText(trigger: Trigger): string {
  switch (trigger.kind) {
    case "cron":
      return trigger.rerun === undefined ? "its schedule" : "its own wish to run again";
    case "webhook":
      return `${trigger.event.type} webhook ${trigger.event.event}`;
    case "agent-call":
      return `a call from ${trigger.caller}`;
    case "manual":
      return "hand";
  }
}

/** Which entry of the history an item runs again, and that it is a second try. */
function againText({ attempt, replayOf }: WorkItem): string {
  const replay = replayOf === undefined ? "" : `, a replay of ${replayOf}`;
  return attempt === 1 ? replay : `${replay}, try ${attempt}`;
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
