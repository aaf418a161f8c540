import type { RuleState } from "../../../foundation/contracts/alert.ts";
import { conditionTopics, storedCondition } from "./condition.ts";
import type { Condition, ConditionTopic } from "./condition.ts";

/** Conditions by agent. Those of an earlier scheduler are in it once their agent is asked for. */
export interface ConditionTable {
  get(agent: string, topic: ConditionTopic): Condition | undefined;
  ofAgent(agent: string): readonly Condition[];
  add(condition: Condition): void;
  remove(condition: Condition): void;
  /** All, those of agents that were never asked for included. */
  all(): readonly Condition[];
}

export function createConditionTable(states: readonly RuleState[]): ConditionTable {
  const byAgent = new Map<string, Map<string, Condition>>();
  const add = (condition: Condition): void => {
    const { agent, topic } = condition;
    const known = byAgent.get(agent);
    if (known === undefined) byAgent.set(agent, new Map([[topic, condition]]));
    else known.set(topic, condition);
  };
  const topicOf = (rule: string): ConditionTopic | undefined =>
    conditionTopics.find((topic) => topic === rule);
  for (const { agent, rule, value } of states) {
    const topic = topicOf(rule);
    const condition = topic && storedCondition(agent, topic, value);
    if (condition) add(condition);
  }
  const ofAgent = (agent: string): readonly Condition[] => [
    ...(byAgent.get(agent)?.values() ?? []),
  ];
  return {
    get: (agent, topic) => byAgent.get(agent)?.get(topic),
    ofAgent,
    add,
    remove: ({ agent, topic }) => {
      const known = byAgent.get(agent);
      known?.delete(topic);
      if (known?.size === 0) byAgent.delete(agent);
    },
    all: () => [...byAgent.keys()].flatMap(ofAgent),
  };
}
