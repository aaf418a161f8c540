import { outcomeText } from "../../../streams/outcomes.ts";
import { v7 as uuidV7 } from "uuid";
import { harnesses } from "../../../streams/harnesses.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Trigger } from "../../../streams/vocabulary.ts";
import type { Inbox } from "../../features/people/inbox.ts";
import type { RunSessions } from "../../features/people/run-sessions.ts";
import type { Person } from "../../foundation/contracts/questions.ts";
import { UserError } from "../../foundation/errors.ts";
import { whyNoInput } from "./harness-command.ts";
import type { FindRun } from "./live-runs.ts";
import { inboxView, type InboxView } from "./run-view.ts";
import { mustBeStartable, type StartableDeps } from "./runnable.ts";
import { mustHaveRun, type WithRuns } from "./view-run.ts";

interface SteerDeps extends StartableDeps {
  readonly runs: FindRun;
  readonly store: WithRuns;
  readonly inbox: Inbox;
  readonly sessions: RunSessions;
  /** Commits the work and dispatches it, under this id. */
  readonly startManual: (agent: string, trigger: Trigger, id: string) => Promise<StartedManual>;
}

/** The first state of work that a person started. */
export interface StartedManual {
  readonly triggerId: string;
  readonly instanceId: string | null;
  readonly queued: boolean;
}

/** The operations on single runs for people who step in. */
export const createSteerOperations = (deps: SteerDeps) => ({
  /**
   * Sends a text to a live run, or with null asks it to stop after its turn. Rejects with UserError `unknown_instance`,
   * or `refused` with the reason.
   */
  steer: async (instanceId: string, text: string | null, by: Person): Promise<InboxView> => {
    const run = deps.runs.find(instanceId);
    if (run === undefined) throw notLive(instanceId, deps);
    const { agent } = run.request;
    const kind = text === null ? "stop" : "steer";
    const reason = whyNoInput(agent)[kind];
    if (reason !== null) throw new UserError("refused", reason);
    const added = await deps.inbox.add({ instanceId, kind, text: text ?? "", by });
    if (added !== null) return inboxView(added);
    const { keepsSession } = harnesses[agent.harness.type];
    const next = keepsSession ? `; after its hooks, ${continuing(instanceId)}` : "";
    throw new UserError("refused", `the session of ${instanceId} takes no more messages${next}`);
  },
  /**
   * Starts a run of the same agent with the session of one that has ended. Rejects with UserError `unknown_instance`, or
   * `refused` with the reason.
   */
  continueRun: async (instanceId: string, prompt: string, by: Person) => {
    const { agent, endedAt } = mustHaveRun(instanceId, deps.store).entry;
    if (deps.runs.find(instanceId) !== undefined || endedAt === null || agent === null) {
      const reason = `the run ${instanceId} has not ended: al steer ${instanceId} sends it a message`;
      throw new UserError("refused", reason);
    }
    mustBeStartable(deps, agent);
    mustHaveSession(instanceId, deps.status.agent(agent)?.config ?? null, deps);
    const continues = { instanceId, endedAt: Date.parse(endedAt) };
    // The link is stored before the work: a run must not begin without it, and a link without a run is not shown.
    const triggerId = uuidV7();
    await deps.inbox.add({ instanceId, kind: "continue", text: prompt, by, triggerId });
    const trigger = { kind: "manual", prompt, continues } as const;
    return { agent, ...(await deps.startManual(agent, trigger, triggerId)) };
  },
});

function notLive(instanceId: string, { store, sessions }: SteerDeps): UserError {
  const { outcome } = mustHaveRun(instanceId, store).entry;
  const state = outcome === null ? "has not started yet" : `has ended (${outcomeText(outcome)})`;
  const next = sessions.isWhole(instanceId) ? `: ${continuing(instanceId)}` : "";
  return new UserError("refused", `the run ${instanceId} ${state}${next}`);
}

function continuing(instanceId: string): string {
  return `al continue ${instanceId} "…" starts a run with its session`;
}

/** Throws UserError `refused` if the run's session is not kept, or the agent's harness can't take it. */
function mustHaveSession(
  instanceId: string,
  config: AgentConfig | null,
  { sessions }: SteerDeps,
): void {
  const { type, command } = config?.harness ?? { type: "pi", command: "" };
  if (!harnesses[type].keepsSession) {
    const reason = `${command} keeps its sessions to itself: only runs of the pi harness can be continued`;
    throw new UserError("refused", reason);
  }
  if (sessions.isWhole(instanceId)) return;
  const reason = `the session of ${instanceId} is not kept: it never began, its process was killed at once, or it is older than the history`;
  throw new UserError("refused", reason);
}
