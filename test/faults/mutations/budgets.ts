import type { Mutation } from "../mutation.ts";

const waits = ["test/runtime/runs/budget-waits.test.ts"];
const funds = ["test/features/spend/run-funds.test.ts"];

/** What lets a run wait for money, and go on with it. */
export const budgets: readonly Mutation[] = [
  {
    defence: "a run that waits for money holds no slot",
    file: "src/runtime/runs/budget-waits.ts",
    find: "pending.suspend({ pausesClock: true, text });",
    replace: "run.showStatus(text);",
    tests: waits,
    only: "holds no slot",
  },
  {
    defence: "the time for which a run waits for money is none of its timeout",
    file: "src/runtime/runs/budget-waits.ts",
    find: "pausesClock: true",
    replace: "pausesClock: false",
    tests: waits,
    only: "does not time out",
  },
  {
    defence: "a scheduler that takes over knows which runs wait for money",
    file: "src/runtime/runs/budget-waits.ts",
    find: "if (!wait.isStored) add(run, wait, text);",
    replace: "if (wait.isStored) add(run, wait, text);",
    tests: waits,
    only: "an adopted run waits on",
  },
  {
    defence: "a run that is ended while it waits for money does not end for its budget",
    file: "src/runtime/runs/budget-waits.ts",
    find: "[wait.refused, run.overBudget] = [run.overBudget, null];",
    replace: "wait.refused = run.overBudget;",
    tests: waits,
    only: "is not over its budget",
  },
  {
    defence: "a raise wakes a run that waits for money",
    file: "src/features/spend/run-funds.ts",
    find: "return changed$.pipe(",
    replace: "return EMPTY.pipe(",
    tests: funds,
  },
  {
    defence: "a new day or month wakes a run that waits for money",
    file: "src/features/spend/run-funds.ts",
    find: "endsAt === null ? EMPTY",
    replace: "endsAt !== undefined ? EMPTY",
    tests: funds,
  },
  {
    defence: "a raise that does not pay the refused call wakes no run",
    file: "src/features/spend/rules/ledger.ts",
    find: "account.neededCap = spent + needed;",
    replace: "account.neededCap = spent + 1;",
    tests: ["test/features/spend/limits.test.ts"],
  },
  {
    defence: "work that comes before its agent is held for money is no dead letter",
    file: "streams/agent-graph.ts",
    find: 'if (over?.onLimit === "stop")',
    replace: "if (over !== null)",
    tests: ["test/streams/runtime/budget.test.ts"],
  },
  {
    defence: "why a run was refused a call is stored before the run reads it",
    file: "src/start/run-meter.ts",
    find: "if (!answer.granted) await recorded;",
    replace: "void recorded;",
    tests: ["test/start/run-meter.test.ts"],
  },
  {
    defence: "a run that was refused a call ends over_budget under the scheduler that adopts it",
    file: "src/runtime/runs/live-run.ts",
    find: "deps.refusalOf(request.instanceId)",
    replace: "null",
    tests: ["test/e2e/budget.test.ts"],
    only: "scheduler that adopts it",
    built: true,
  },
  {
    defence: "an agent without a valid config has none of the project's limits as its own",
    file: "src/foundation/contracts/budget.ts",
    find: "agent ?? { ...project, dayUsd: null, monthUsd: null }",
    replace: "agent ?? project",
    tests: ["test/start/run-meter.test.ts", "test/interfaces/cli/without-scheduler.test.ts"],
  },
];
