import { Subject } from "rxjs";
import { listsIn } from "../../streams/status/reduce-status.ts";
import type {
  AgentStatus,
  LockStatus,
  LockStatusId,
  RecentLog,
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../streams/status/wire.ts";
import { Problem } from "../../src/foundation/errors.ts";
import { anAgentStatus } from "./agent-status.ts";

export type NamedStatus = Partial<AgentStatus> & { readonly name: string };

/** An idle agent with a cron schedule. */
function agentStatus(agent: NamedStatus): AgentStatus {
  return anAgentStatus(agent.name, { triggers: ["schedule 0 9 * * *"], ...agent });
}

/** The first state of a scheduler with these agents. */
export function fakeSnapshot(agents: readonly NamedStatus[]): StatusSnapshot {
  return {
    scheduler: {
      paused: false,
      pausedWork: false,
      pausedAt: null,
      draining: false,
      startedAt: new Date().toISOString(),
      version: "0.1.0",
      project: "hello",
      gatewayUrl: "http://localhost:8080",
      running: 0,
      cronJobs: agents.length,
      webhookSources: [],
      error: null,
      warnings: [],
      alerts: { open: 0, dead: 0 },
      questions: 0,
    },
    agents: agents.map(agentStatus),
    recentLogs: [],
    locks: [],
  };
}

/** The status of a scheduler with these agents, which a test changes; the streams emit the changes. */
export function fakeStatus(agents: readonly NamedStatus[]) {
  const update = new Subject<StatusUpdate>();
  let seq = 0;
  let snapshot = fakeSnapshot(agents);
  const find = (name: string): AgentStatus => {
    const agent = snapshot.agents.find((known) => known.name === name);
    if (agent === undefined) throw new Problem("unknown_agent", `no agent "${name}"`);
    return agent;
  };
  const withoutClaim = ({ resource, instanceId }: LockStatusId): LockStatus[] =>
    snapshot.locks.filter(
      (claim) => claim.resource !== resource || claim.instanceId !== instanceId,
    );
  return {
    snapshot: () => snapshot,
    update$: update.asObservable(),
    /** Throws Problem `unknown_agent`. */
    find,
    emit: (change: StatusUpdate): void => update.next(change),
    setAgent(change: NamedStatus): void {
      const known = snapshot.agents.find(({ name }) => name === change.name);
      const agent = { ...(known ?? agentStatus(change)), ...change };
      const others = snapshot.agents.filter(({ name }) => name !== change.name);
      const sorted = [...others, agent].sort((a, b) => a.name.localeCompare(b.name));
      snapshot = { ...snapshot, agents: sorted };
      // The start and the end of a run change the history, too.
      update.next({ agents: [agent], ...("running" in change && { changed: ["triggers"] }) });
    },
    removeAgent(name: string): void {
      snapshot = { ...snapshot, agents: snapshot.agents.filter((agent) => agent.name !== name) };
      update.next({ removed: [name] });
    },
    setScheduler(change: Partial<SchedulerStatus>): void {
      snapshot = { ...snapshot, scheduler: { ...snapshot.scheduler, ...change } };
      update.next({ scheduler: snapshot.scheduler, changed: listsIn(change) });
    },
    addLog(line: Partial<RecentLog> & { readonly msg: string }): void {
      const log: RecentLog = {
        seq: ++seq,
        time: new Date().toISOString(),
        level: 30,
        agent: "scheduler",
        instanceId: null,
        ...line,
      };
      snapshot = { ...snapshot, recentLogs: [...snapshot.recentLogs, log].slice(-20) };
      update.next({ logs: [log] });
    },
    /** Of what a run holds or waits for. */
    setClaim(claim: LockStatus): void {
      snapshot = { ...snapshot, locks: [...withoutClaim(claim), claim] };
      update.next({ locks: [claim] });
    },
    endClaim({ resource, instanceId }: LockStatusId): void {
      snapshot = { ...snapshot, locks: withoutClaim({ resource, instanceId }) };
      update.next({ unlocked: [{ resource, instanceId }] });
    },
  };
}
