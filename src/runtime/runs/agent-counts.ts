import type { AlertOperationsDeps } from "../../features/alerts/alerts.ts";
import type { StatusStore } from "../../foundation/scheduler/status-store.ts";

interface CountsDeps {
  readonly status: Pick<StatusStore, "snapshot" | "agents">;
  readonly alerts: Pick<AlertOperationsDeps, "store" | "open" | "targets">;
}

/** The scheduler's counts of alerts and questions for some of the agents, as a token that is limited to them sees them. */
export function createAgentCounts({ status, alerts }: CountsDeps) {
  const known = new WeakMap<object, ReadonlyMap<string, number>>();
  const deadByAgent = (): ReadonlyMap<string, number> => {
    // The status gets a new object each time that the alerts were counted.
    const { alerts: mark } = status.snapshot().scheduler;
    const dead =
      known.get(mark) ?? alerts.store.deadByAgent(alerts.targets().map(({ name }) => name));
    known.set(mark, dead);
    return dead;
  };
  return (isMine: (agent: string | null) => boolean) => {
    let [dead, questions] = [0, 0];
    for (const [agent, count] of deadByAgent()) if (isMine(agent)) dead += count;
    for (const agent of status.agents()) if (isMine(agent.name)) questions += agent.questions.size;
    const open = alerts.open().filter(({ agent }) => isMine(agent)).length;
    return { alerts: { open, dead }, questions };
  };
}
