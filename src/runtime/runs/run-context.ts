import type { OverBudget } from "../../../streams/agent-graph.ts";
import type { ConfiguredAgent } from "../../../streams/status/agent-record.ts";
import type { Calendars } from "../../../streams/triggers/calendar.ts";
import type { Inbox } from "../../features/people/inbox.ts";
import type { SessionStore } from "../../features/sessions/session-store.ts";
import type { Webhooks } from "../../features/webhooks/webhooks.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import type { LogSource } from "../../foundation/logs/log-source.ts";
import type { StoreReader } from "../../foundation/store/store.ts";
import type { Backfills } from "./backfills.ts";
import type { FirstEvents } from "./first-events.ts";
import type { StatusContext } from "./limited-status.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { StartOnce } from "./start-once.ts";

/** The services of a project, with or without a scheduler, that reads of its runs use. */
export interface StoredRunContext {
  readonly store: StoreReader;
  readonly logs: LogSource;
  /** Without a scheduler, stored secrets are loaded at the first use. */
  readonly redactor: Redactor | Promise<Redactor>;
  readonly runs: Pick<LiveRuns, "find">;
  /** An agent, and why it can't run now, one sentence each. Throws or rejects with Problem `unknown_agent`. */
  readonly agentNow: (name: string) => AgentNow | Promise<AgentNow>;
  readonly planned: () => Planned | Promise<Planned>;
}

/** All agents, and the project's calendars. */
export interface Planned {
  readonly agents: Iterable<ConfiguredAgent>;
  readonly calendars: Calendars;
}

export interface AgentNow {
  readonly agent: ConfiguredAgent;
  readonly now: readonly string[];
  /** The webhook sources of the project, as its deliveries are read. */
  readonly sources: ProjectConfig["webhooks"];
}

/** The services of a scheduler that operations on agents and runs use. */
export interface RunContext extends SchedulerContext, StoredRunContext, StatusContext {
  readonly status: SchedulerContext["status"];
  readonly store: SchedulerContext["store"];
  readonly redactor: Redactor;
  readonly firstEvents: FirstEvents;
  readonly overBudget: (agent: string) => OverBudget | null;
  readonly readAgain: Webhooks["readAgain"];
  readonly inbox: Inbox;
  readonly sessions: SessionStore;
  readonly startOnce: StartOnce;
  readonly backfills: Pick<Backfills, "advance">;
}
