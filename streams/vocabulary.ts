/**
 * Every value that flows through the program. One word for one thing:
 * agent, trigger, work item, run, instance, event, receipt, outcome.
 * A time that is a number is epoch milliseconds; one that is a string, as on the wire, is ISO 8601 UTC.
 */
import type { AgentConfig, Schedule } from "./agent-config.ts";
import { outcomeRows, type Outcome, type RefusedOutcome } from "./outcomes.ts";
import type { DaySpend, UsedBudget } from "./spending.ts";

/** A problem in a file, addressed so that an editor can jump to it. Lines and columns count from 1. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  /** Path relative to the project. */
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  /** The finding, the expected form and the fix, in one sentence. */
  readonly message: string;
  /** The finding in the words of all agents that have it: it is alerted once for the project. */
  readonly shared?: string;
}

/** The change of an agent's directory. A bad config is a value, not an error. */
export type AgentChange =
  | { readonly type: "set"; readonly agent: AgentConfig; readonly warnings: readonly Diagnostic[] }
  | ({ readonly type: "invalid"; readonly name: string } & InvalidFiles)
  | { readonly type: "removed"; readonly name: string };

/** Why an agent's files are not a config. */
interface InvalidFiles {
  readonly problems: readonly Diagnostic[];
  /** Webhook sources that its config.toml names. */
  readonly sources: readonly string[];
}

/** Normalized fields of a webhook event; null where the provider's event carries none. */
export interface WebhookEvent {
  readonly source: string;
  readonly type: string;
  readonly event: string;
  readonly action: string | null;
  readonly repo: string | null;
  readonly number: number | null;
  readonly title: string | null;
  readonly body: string | null;
  readonly url: string | null;
  readonly author: string | null;
  readonly labels: readonly string[];
  readonly sender: string | null;
  readonly branch: string | null;
  readonly conclusion: string | null;
  /** The commit that the event is about, in hex; absent without one. */
  readonly headSha?: string | null;
  /** ISO 8601 UTC. */
  readonly timestamp: string;
  readonly receiptId: string;
}

/** A span of another program; hexadecimal ids. */
export interface RemoteSpan {
  readonly traceId: string;
  readonly spanId: string;
}

/** The reason for a run of an agent. */
export type Trigger =
  | {
      readonly kind: "cron";
      /** Epoch ms. */
      readonly scheduledFor: number;
      /** Name of the agent's schedule; absent for the short one. */
      readonly schedule?: string;
      /** Why it starts long after it was due; absent for a tick. */
      readonly late?: LateStart;
      /** How many reruns in a row were requested since the tick; absent for the tick itself. */
      readonly rerun?: number;
      /** Number of the project's slots, all in use at the tick, so that it waits; absent if one was free. */
      readonly slotsInUse?: number;
      /** Present if it waits because all runners of its agent were busy at the tick. */
      readonly runnersBusy?: true;
    }
  | {
      readonly kind: "webhook";
      readonly event: WebhookEvent;
      /** The sender's span, from its `traceparent` header; absent without a valid one. */
      readonly sender?: RemoteSpan;
    }
  | {
      readonly kind: "agent-call";
      readonly callId: string;
      readonly caller: string;
      readonly callerInstance: string;
      /** Calls from the first run of the tree to this one. */
      readonly depth: number;
      /** The work item of the first run of the tree. */
      readonly root: string;
      readonly context: string;
      /** Whether the call ends with its caller. */
      readonly cancelOnExit: boolean;
    }
  | {
      readonly kind: "manual";
      readonly prompt: string | null;
      /** The ended run whose session it continues; absent for a new session. */
      readonly continues?: ContinuedRun;
    };

/** `catch-up`: by the agent's `catchUp`. `backfill`: a person requested it. */
export type LateStart = "catch-up" | "backfill";

/** A due time of one of an agent's schedules. A slot never starts twice. */
export interface TickSlot {
  /** The name of the schedule; empty for the one without a name. */
  readonly schedule: string;
  /** Epoch ms. */
  readonly at: number;
}

/** The slot of a tick; null for other work. */
export function slotOf({ trigger }: Pick<WorkItem, "trigger">): TickSlot | null {
  if (trigger.kind !== "cron") return null;
  return { schedule: trigger.schedule ?? "", at: trigger.scheduledFor };
}

/** A claim fails with this when the slot was started before: the clock was set back, or a backfill came first. */
export class StartedBefore extends Error {}

export interface ContinuedRun {
  readonly instanceId: string;
  /** Epoch ms. */
  readonly endedAt: number;
}

export const triggerKinds = [
  "cron",
  "webhook",
  "agent-call",
  "manual",
] as const satisfies readonly Trigger["kind"][];
export type TriggerKind = Trigger["kind"];

/** The kinds of triggers in the words of pages and commands; the API has the kind itself. */
export const triggerNames: Readonly<Record<TriggerKind, string>> = {
  cron: "schedule",
  webhook: "webhook",
  "agent-call": "call",
  manual: "manual",
};

/** A trigger addressed to one agent. Its id is the id of its history entry. */
export interface WorkItem {
  readonly id: string;
  readonly agent: string;
  /** When the trigger arrived, epoch ms. */
  readonly at: number;
  /** 1 for the first attempt; the retry of an interrupted or lost run counts up. */
  readonly attempt: number;
  /** For a replay: the id of the repeated history entry. */
  readonly replayOf?: string;
  /** Its concurrency key by its agent's config when it was stored; absent without one. */
  readonly key?: string;
  /** Session key by its agent's config when it was stored; absent without one. */
  readonly session?: string;
  /** Present for the retry of a run of a key. */
  readonly isRetry?: true;
  /** Present for a tick that an earlier scheduler accepted: it waits for a runner, like other work. */
  readonly waits?: true;
  /** For gathered deliveries: the ids of their receipts in order, the last of which is that of the trigger. */
  readonly gathered?: readonly string[];
  readonly trigger: Trigger;
}

/** Stored deliveries of an agent that gather for a run, over all of its keys. */
export interface AgentGathering {
  readonly deliveries: number;
  /** When the first of the runs starts, epoch ms. */
  readonly startsAt: number;
}

/** Maximum number of attempts. */
const maxAttempts = 2;

/** Whether work is retried after a run of it ended like this. A run that never began does not count as an attempt. */
export function isRetried({ attempt }: WorkItem, end: HowEnded): boolean {
  const { isRetried: isTriedAgain = false } = outcomeRows[end.outcome];
  return isTriedAgain && (attempt < maxAttempts || end.neverBegan === true);
}

/** Whether a person may replay the work of a run that is not tried again. For a tick that can't start, the next one comes. */
export function isDeadLetter({ trigger }: WorkItem, outcome: Outcome): boolean {
  if (outcome === "rejected") return trigger.kind !== "cron";
  return outcomeRows[outcome].isDeadLetter === true;
}

/** The usage of a run; null if the harness does not know it. */
export interface Usage {
  readonly model: string | null;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly turns: number | null;
}

/** Syslog-like levels in pino's numbers: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
export type LogLevel = 10 | 20 | 30 | 40 | 50 | 60;

/** One line of a log file: NDJSON in pino's shape. Other fields hold the subject of the line. */
export interface LogEntry {
  readonly level: LogLevel;
  /** Epoch ms. */
  readonly time: number;
  readonly msg: string;
  readonly agent: string;
  readonly instanceId?: string;
  readonly [field: string]: unknown;
}

/** The facts that decide whether the work of a run is retried. */
export interface HowEnded {
  readonly outcome: Outcome;
  /** Present if its process received no request. */
  readonly neverBegan?: true;
}

/** How a run ended. */
export interface RunEnd extends HowEnded {
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly usage: Usage | null;
  /** The returned value, any JSON; absent without one. */
  readonly value?: unknown;
  /** Present if the run requested a rerun. */
  readonly rerun?: true;
  /** Present if it failed because the provider refused the key of its model. */
  readonly isKeyRefused?: true;
  /** The newer item of its key, for which it was ended; absent otherwise. */
  readonly supersededBy?: string;
}

interface At {
  readonly agent: string;
  /** Epoch ms. */
  readonly at: number;
}

/** How an agent's image is made. */
export type BuildEvent =
  | { readonly type: "build-started"; readonly text: string }
  | { readonly type: "build-progress"; readonly text: string }
  | {
      readonly type: "build-finished";
      readonly error: string | null;
      /** A run can start now, with the built image or with the last good one. */
      readonly usable: boolean;
    };

/** Events of runs, queues and triggers. `status$`, history and logs are folds and readers of these. */
export type RunEvent = At &
  (
    | {
        readonly type: "agent-set";
        readonly config: AgentConfig;
        readonly warnings: readonly Diagnostic[];
        /** The changes in one line. */
        readonly summary: string;
      }
    | ({ readonly type: "agent-invalid" } & InvalidFiles)
    | { readonly type: "agent-removed" }
    | { readonly type: "agent-enabled"; readonly enabled: boolean }
    /** Missing requirements beside the agent's files, such as credentials; empty once all are met. */
    | { readonly type: "agent-requirements"; readonly unmet: readonly Diagnostic[] }
    | BuildEvent
    | {
        readonly type: "next-run";
        /** When the agent is due next by any schedule, epoch ms; null if it is not. */
        readonly nextRunAt: number | null;
        /** Name of the schedule whose ticks are handled up to now; empty for the short one. */
        readonly schedule: string;
        /** That schedule; null once it is gone. */
        readonly checked: Schedule | null;
      }
    | { readonly type: "queue-depth"; readonly depth: number }
    /** Deliveries that gather for a run; null once none does. */
    | { readonly type: "gathering"; readonly gathering: AgentGathering | null }
    | {
        readonly type: "queued";
        readonly item: WorkItem;
        /** Present while new work is paused: it waits in the store, outside of its agent's queue. */
        readonly isPaused?: true;
      }
    | {
        readonly type: "refused";
        readonly item: WorkItem;
        readonly outcome: RefusedOutcome;
        readonly reason: string;
        /** The newer item of its key; absent if it is not superseded. */
        readonly supersededBy?: string;
      }
    /** Ticks that fell due while no scheduler was up, the oldest first, each with its reason; `reason` is that of all. */
    | {
        readonly type: "missed";
        readonly items: readonly { readonly item: WorkItem; readonly reason: string }[];
        readonly reason: string;
      }
    /** Missed ticks (epoch ms) that start now, one after another. */
    | { readonly type: "late"; readonly schedule?: string; readonly slots: readonly number[] }
    /** The live run of this item ends for newer work of its key. */
    | { readonly type: "ending"; readonly itemId: string; readonly by: string }
    /** A live run waited for it: it leaves its queue, and starts none. */
    | { readonly type: "taken"; readonly item: WorkItem }
    | {
        readonly type: "started";
        readonly item: WorkItem;
        readonly instanceId: string;
        /** When an earlier scheduler started it, epoch ms; absent for a run that starts now. */
        readonly startedAt?: number;
      }
    | { readonly type: "output"; readonly instanceId: string | null; readonly entry: LogEntry }
    | {
        readonly type: "status-text";
        readonly instanceId: string;
        readonly text: string;
        /** The run waits for money; else absent. */
        readonly needsMoney?: true;
      }
    /** Why the machine can't start the run now; null once it could. Emitted with each failed start. */
    | { readonly type: "blocked"; readonly instanceId: string; readonly reason: string | null }
    /** Which budget keeps the agent's work from running; null once none does. */
    | {
        readonly type: "used-budget";
        readonly budget: UsedBudget | null;
        /** For the log. */
        readonly text: string;
      }
    /** The cost of a run's calls to models so far. */
    | {
        readonly type: "spent";
        readonly instanceId: string;
        /** US dollars, of ended calls. */
        readonly usd: number;
        readonly today: DaySpend;
      }
    | {
        readonly type: "finished";
        readonly item: WorkItem;
        readonly instanceId: string;
        /** Epoch ms. */
        readonly startedAt: number;
        readonly end: RunEnd;
      }
  );

/** A run before its start: its work, its config and its name. */
export interface RunRequest {
  /** `<agent>-<8 base32 characters>`; unique; people, containers and log lines use this name. */
  readonly instanceId: string;
  readonly agent: AgentConfig;
  readonly item: WorkItem;
}
