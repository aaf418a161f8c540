import type { AlertOperationsDeps } from "../../features/alerts/alerts.ts";
import type { StatusStore } from "../../foundation/scheduler/status-store.ts";
import type { SchedulerStatus } from "../../../streams/status/wire.ts";

interface CountsDeps {
  readonly status: Pick<StatusStore, "snapshot" | "agents">;
  readonly alerts: Pick<AlertOperationsDeps, "store" | "open" | "targets">;
}

/** The scheduler's counts of alerts and questions for some of the agents, as a token that is limited to them sees them. */
export function createAgentCounts({ status, alerts }: CountsDeps) {
  let known: { readonly mark: object; readonly dead: ReadonlyMap<string, number> } | null = null;
  const deadByAgent = (): ReadonlyMap<string, number> => {
    // The status gets a new object each time that the alerts were counted.
    const { alerts: mark } = status.snapshot().scheduler;
    const targets = () => alerts.targets().map(({ name }) => name);
    if (known?.mark !== mark) known = { mark, dead: alerts.store.deadByAgent(targets()) };
    return known.dead;
  };
  return (
    isMine: (agent: string | null) => boolean,
  ): Pick<SchedulerStatus, "alerts" | "questions"> => {
    const mine = [...status.agents()].filter(({ name }) => isMine(name));
    const open = alerts.open().filter(({ agent }) => isMine(agent)).length;
    const dead = [...deadByAgent()].filter(([agent]) => isMine(agent));
    return {
      alerts: { open, dead: dead.reduce((sum, [, count]) => sum + count, 0) },
      questions: mine.reduce((sum, { questions }) => sum + questions.size, 0),
    };
  };
}
