import { asyncScheduler, delay, from, merge, takeUntil, tap } from "rxjs";
import type { Observable } from "rxjs";
import { agentChanges } from "../../streams/agents/agent-changes.ts";
import type { Clock } from "../../streams/clock.ts";
import type { AdoptedRun } from "../../streams/runs/adopted-runs.ts";
import type { Places } from "../../streams/runs/places.ts";
import type { RunOwner } from "../../streams/runs/suspension.ts";
import { runtime } from "../../streams/runtime.ts";
import type { AgentChange, RunEvent, WorkItem } from "../../streams/vocabulary.ts";
import { readAgent } from "../config/agent-files.ts";
import type { AgentFiles } from "../config/agent-files.ts";
import { describeChange } from "../config/describe-change.ts";
import { resolveAgent } from "../config/resolve-agent.ts";
import { knownToAgents } from "../known-to-agents.ts";
import type { Store } from "../store/store.ts";
import { uuidV7 } from "../store/uuid-v7.ts";
import type { Inputs } from "./inputs.ts";
import { lastSeenIn } from "./last-seen.ts";
import { missingAgents } from "./missing-agents.ts";
import { withoutTriggers } from "./on-demand.ts";
import { newInstanceId } from "./run-edges.ts";
import type { Runtimes } from "./run-edges.ts";
import type { Stopping } from "./stopping.ts";
import type { Switches } from "./switches.ts";

/** What the graph flows from and over. */
export interface GraphParts extends Pick<Runtimes, "runner" | "prepare"> {
  readonly projectDir: string;
  /** No schedules and no webhooks. */
  readonly onDemand: boolean;
  readonly inputs: Inputs;
  readonly store: Pick<Store, "work" | "settings">;
  /** As they are on disk now. */
  readonly agents: ReadonlyMap<string, AgentFiles>;
  /** Names of agents whose files may have changed. */
  readonly touched$: Observable<string>;
  /** Called with each directory that was read again; `isAgent` when it has a `config.toml`. */
  readonly onRead: (name: string, isAgent: boolean) => void;
  readonly adopted: readonly AdoptedRun[];
  /** Work from before a restart. */
  readonly waiting: readonly WorkItem[];
  readonly clock: Clock;
  readonly places: Places;
  readonly starting: Places;
  readonly runs: RunOwner;
  readonly switches: Pick<Switches, "isEnabled">;
  readonly stopping: Pick<Stopping, "phase">;
}

/** How long a claim that is under way may take once the scheduler stops, in ms. */
const claimMs = 1000;

/** The graph of all agents over the edges of one scheduler. */
export function graphOver(parts: GraphParts): Observable<RunEvent> {
  const { runner, prepare, inputs, store, clock, places, runs, switches } = parts;
  return runtime(
    { ...inputs, adopted$: from(parts.adopted), agentChange$: agentChange$(parts) },
    {
      ...{ runner, prepare, clock, places, owner: runs, newInstanceId, describeChange },
      // One that waits for the store must not hold up the end.
      claim: (request) =>
        from(store.work.claim(request)).pipe(takeUntil(inputs.stopping$.pipe(delay(claimMs)))),
      scheduler: asyncScheduler,
      starting: parts.starting,
      isStopping: () => !parts.onDemand && parts.stopping.phase() === "draining",
      newId: uuidV7,
      isEnabled: (agent) => switches.isEnabled(agent),
      lastSeen: lastSeenIn(store.settings),
    },
  );
}

function agentChange$(parts: GraphParts): Observable<AgentChange> {
  const { projectDir, onDemand, inputs, agents, waiting, touched$, onRead } = parts;
  const known = knownToAgents();
  return merge(
    from(missingAgents(waiting, agents)),
    agentChanges({
      ...{ initial: agents, touched$, project$: inputs.project$, scheduler: asyncScheduler },
      read: (name) =>
        from(readAgent(projectDir, name)).pipe(tap((files) => onRead(name, files !== null))),
      resolve: (agent, project) => {
        const change = resolveAgent(agent, project, known);
        return onDemand ? withoutTriggers(change) : change;
      },
    }),
  );
}
