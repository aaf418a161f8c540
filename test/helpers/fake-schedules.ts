import type { ConfiguredAgent } from "../../streams/status/agent-record.ts";
import type { AgentAnswer } from "../../src/foundation/contracts/operator-api.ts";
import type { RunContext } from "../../src/runtime/runs/run-context.ts";

/** Services of operations on schedules, in a project without calendars; `find` rejects an unknown name. */
export function fakeSchedules(
  agents: () => readonly ConfiguredAgent[],
  find: (name: string) => unknown,
): Pick<RunContext, "agentNow" | "planned"> & { readonly project$: object } {
  return {
    project$: { value: { calendars: {} } },
    agentNow: (name) => {
      find(name);
      return {
        agent: agents().find((one) => one.name === name) ?? { name, config: null },
        now: [],
        sources: {},
      };
    },
    planned: () => ({ agents: agents(), calendars: {} }),
  };
}

/** The parts of an agent's detail that a test sets. */
export type MadeDetail = Pick<AgentAnswer, "nextTicks" | "config"> & Partial<AgentAnswer>;

/** An agent's detail, with its next runs at the next ticks unless they are made too. */
export function withNext(agent: string, facts: AgentAnswer, made?: MadeDetail): AgentAnswer {
  const { nextTicks, config } = made ?? facts;
  const timezone = config?.timezone ?? "UTC";
  const next = nextTicks.map((at) => ({ agent, schedule: "", at, timezone, leftOut: null }));
  return { ...facts, next, ...made };
}
