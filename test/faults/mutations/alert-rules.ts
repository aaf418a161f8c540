import type { Mutation } from "../mutation.ts";

const digests = ["test/features/alerts/rules/digests.test.ts"];
const conditions = ["test/features/alerts/rules/conditions.test.ts"];
const restart = ["test/features/alerts/rules/restart.test.ts"];
const occurrences = ["test/features/alerts/rules/occurrences.test.ts"];

/** What makes alerts come, and not too many of them. */
export const alertRules: readonly Mutation[] = [
  {
    defence: "many agents that fail for one reason are one digest",
    file: "src/features/alerts/rules/storm-gate.ts",
    find: "return isStorm || isOfOneCause;",
    replace: "return isStorm;",
    tests: digests,
    only: "begins with the sixth agent",
  },
  {
    defence: "no more than twenty alerts of a minute are sent by themselves, whatever they are",
    file: "src/features/alerts/rules/storm-gate.ts",
    find: "return isStorm || isOfOneCause;",
    replace: "return isOfOneCause;",
    tests: digests,
    only: "whatever they are",
  },
  {
    defence: "a digest is as long for 10,000 alerts as for twenty",
    file: "src/features/alerts/rules/digest.ts",
    find: "isListed || agents.length >= mostAgents",
    replace: "isListed",
    tests: digests,
    only: "10,000 agents",
  },
  {
    defence: "the name of an agent makes no other reason of one",
    file: "src/features/alerts/rules/reason-line.ts",
    find: "agent === null ? reason : withoutAgent(reason, agent)",
    replace: "reason",
    tests: ["test/features/alerts/rules/reason-line.test.ts"],
    only: "is the same for",
  },
  {
    defence: "a target gets nothing in its quiet hours",
    file: "src/features/alerts/rules/digests.ts",
    find: "if (isPartOfStorm || quietUntil(target, now()) !== null)",
    replace: "if (isPartOfStorm)",
    tests: digests,
    only: "quiet hours",
  },
  {
    defence: "the digest of quiet hours outlasts a restart",
    file: "src/features/alerts/rules/digests.ts",
    find: "if (digest !== null) grow(rule.slice(rulePrefix.length), digest);",
    replace: "if (digest === null) continue;",
    tests: digests,
    only: "after a restart",
  },
  {
    defence: "a file that is being edited is no alert",
    file: "src/features/alerts/rules/condition.ts",
    find: "return since + settleMs;",
    replace: "return since;",
    tests: conditions,
    only: "mended before",
  },
  {
    defence: "a run that is tried again is no failure yet",
    file: "src/features/alerts/rules/agent-alerts.ts",
    find: "if (run.isRetried) return;",
    replace: "",
    tests: conditions,
    only: "tried again",
  },
  {
    defence: "what a person disables closes without an alert",
    file: "src/features/alerts/rules/conditions.ts",
    find: "change(condition, { alertedAt: null });",
    replace: "",
    tests: conditions,
    only: "disabled then",
  },
  {
    defence: "what was alerted before a restart is not alerted again",
    file: "src/features/alerts/rules/conditions.ts",
    find: "createConditionTable(deps.states)",
    replace: "createConditionTable([])",
    tests: restart,
    only: "what is open is not opened again",
  },
  {
    defence: "what was mended while no scheduler was up is resolved",
    file: "src/features/alerts/rules/conditions.ts",
    find: 'else if (!isCertain && topic !== "image") clear(agent, topic);',
    replace: "",
    tests: restart,
    only: "resolved after a minute",
  },
  {
    defence: "an agent that went while no scheduler was up is forgotten",
    file: "src/features/alerts/rules/conditions.ts",
    find: "if (there?.has(agent) === false) drop(condition);",
    replace: "if (there === null) drop(condition);",
    tests: restart,
    only: "an agent that is gone",
  },
  {
    defence: "dropped work is one alert an hour",
    file: "src/features/alerts/rules/occurrences.ts",
    find: "if (hour !== undefined) return",
    replace: "if (hour !== undefined && hour.count < 0) return",
    tests: occurrences,
    only: "once an hour",
  },
  {
    defence:
      "a budget that is used up is one alert, though each of its agents and each start has it",
    file: "src/features/alerts/rules/budget-alerts.ts",
    find: "if (isSame && percent <= before.percent) return;",
    replace: "",
    tests: occurrences,
    only: "budget",
  },
];
