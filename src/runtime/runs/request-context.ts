import type { RunFunds } from "../../features/spend/run-funds.ts";
import type { Observable } from "rxjs";
import type { AgentConfig, McpServer } from "../../../streams/agent-config.ts";
import type { Clock } from "../../../streams/clock.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import type { OpenCall } from "../../foundation/contracts/run-state.ts";
import type { McpStore } from "../../features/mcp/mcp-store.ts";
import type { Inbox } from "../../features/people/inbox.ts";
import type { Questions } from "../../features/people/questions.ts";
import type { Store } from "../../foundation/store/store.ts";
import type { McpRun } from "./connect-mcp.ts";
import type { McpClient } from "../wire/mcp-client.ts";
import type { FirstEvents } from "./first-events.ts";
import type { LiveRun } from "./live-run.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { ReadDelivery } from "./look-back.ts";

/** Shared by the services that answer the requests of runs. */
export interface RequestContext {
  readonly clock: Clock;
  readonly runs: LiveRuns;
  /** Already without the locks, waits and calls of dead runs. */
  readonly store: Store;
  readonly firstEvents: FirstEvents;
  readonly project: () => ProjectConfig;
  /** The active config of an agent; undefined without one. */
  readonly configOf: (agent: string) => AgentConfig | undefined;
  readonly agentNames: () => readonly string[];
  /** Throws a Problem with the reason why the agent can't run. */
  readonly mustBeRunnable: (agent: string) => void;
  /** Dispatches committed work. */
  readonly dispatch: (items: readonly WorkItem[]) => void;
  /** Ends a call whose caller ended. */
  readonly abandon: (call: OpenCall) => void;
  /** Work in its queue was taken by a waiting run. */
  readonly onTaken: (item: WorkItem) => void;
  /** Null if it was deleted, or can't be read. */
  readonly deliveryOf: (receiptId: string) => ReadDelivery | null;
  /** Whether the run can pay its model, from now on. */
  readonly funds: (run: LiveRun) => Observable<RunFunds>;
  readonly questions: Questions;
  readonly inbox: Inbox;
  readonly mcp: McpStore;
  /** Connects to an MCP server outside of the run. Rejects with an error for a person. */
  readonly connectMcp: (server: McpServer, run: McpRun) => Promise<McpClient>;
  /** Ends a run whose question ran out. */
  readonly endUnanswered: (instanceId: string) => void;
  readonly onProblem: (message: string) => void;
  readonly redact: Redactor["redact"];
  readonly redactValue: Redactor["redactValue"];
  readonly splitSecrets: Redactor["split"];
}
