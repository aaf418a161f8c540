import type { WorkItem } from "../../streams/vocabulary.ts";
import { createAnswerLinks } from "../features/people/answer-links.ts";
import { createInboxStore } from "../features/people/inbox-store.ts";
import { createInbox } from "../features/people/inbox.ts";
import { createQuestionStore } from "../features/people/question-store.ts";
import { createQuestions } from "../features/people/questions.ts";
import { createSessionStore } from "../features/sessions/session-store.ts";
import { createMcpStore } from "../features/mcp/mcp-store.ts";
import { createMemoryReports } from "../features/memory/memory-reports.ts";
import { createMemoryStore } from "../features/memory/memory-store.ts";
import type { BudgetHolds } from "../features/spend/budget-holds.ts";
import { interpretStored } from "../features/webhooks/interpret.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import { abandonBy } from "../foundation/scheduler/inputs.ts";
import type { FirstEvents } from "../runtime/runs/first-events.ts";
import type { LiveRuns } from "../runtime/runs/live-runs.ts";
import type { RequestContext } from "../runtime/runs/request-context.ts";
import { memoryOptions } from "../runtime/runs/memory-options.ts";
import { createProposals } from "../runtime/runs/proposals.ts";
import { createRunRequests } from "../runtime/runs/run-requests.ts";
import { mustBeRunnable } from "../runtime/runs/runnable.ts";
import type { KeptFiles } from "./kept-files.ts";

const dayMs = 86_400_000;

/** Questions to people, proposals for memories among them, and the messages that people send to runs. */
export function createPeople(context: SchedulerContext, { blobs }: Pick<KeptFiles, "blobs">) {
  const { store, clock, redactor, status, inputs, project$, warn } = context;
  const proposed = store.tables(createMemoryStore);
  let open = 0;
  const count = (): void => {
    status.apply({ type: "scheduler", patch: { questions: open + proposed.openProposals() } });
  };
  const questions = createQuestions({
    store: store.tables(createQuestionStore),
    clock,
    redactor,
    onCount: (now) => {
      open = now;
      count();
    },
    warn,
  });
  const memories = createMemoryReports({
    store: proposed,
    blobs,
    optionsOf: (name) => memoryOptions(name, project$.value, status.agent),
  });
  const proposals = createProposals(questions, {
    store: proposed,
    memories,
    keepMs: () => project$.value.historyRetentionDays * dayMs,
    committed: () => store.work.record(() => undefined),
    onChange: count,
    warn,
  });
  count();
  return {
    questions,
    memories,
    proposals,
    answerLinks: createAnswerLinks(store.settings.answerKey(), proposals.find),
    inbox: createInbox({
      store: store.tables(createInboxStore),
      clock,
      redactValue: redactor.redactValue,
      onTaken: (taken) => inputs.withdraw$.next({ ...taken, why: "taken" }),
    }),
    sessions: store.tables(createSessionStore),
  };
}

interface RequestParts {
  readonly runs: LiveRuns;
  readonly firstEvents: FirstEvents;
  readonly budgets: BudgetHolds;
  readonly people: ReturnType<typeof createPeople>;
  readonly connectMcp: RequestContext["connectMcp"];
  /** A run took a delivery or a call that waited. */
  readonly onTaken: (item: WorkItem) => void;
}

/** Answers the requests of runs. */
export function createRequests(
  { store, redactor, inputs, project$, dispatch, stopping, status, clock, warn }: SchedulerContext,
  { runs, firstEvents, budgets, people, connectMcp, onTaken }: RequestParts,
) {
  return createRunRequests({
    clock,
    runs,
    store,
    firstEvents,
    dispatch,
    onProblem: warn,
    redact: redactor.redact,
    redactValue: redactor.redactValue,
    splitSecrets: redactor.split,
    ...people,
    mcp: store.tables(createMcpStore),
    connectMcp,
    endUnanswered: (instanceId) => inputs.kill$.next({ instanceId, as: "unanswered" }),
    project: () => project$.value,
    configOf: (agent) => status.agent(agent)?.config ?? undefined,
    agentNames: () => [...status.agents()].map(({ name }) => name),
    mustBeRunnable: (agent) =>
      mustBeRunnable({ status, stopping, overBudget: budgets.overBudget }, agent),
    abandon: abandonBy(inputs),
    onTaken: (item) => {
      inputs.withdraw$.next({ agent: item.agent, itemId: item.id, why: "taken" });
      onTaken(item);
    },
    deliveryOf: (id) => {
      const receipt = store.receipts.get(id);
      return receipt && interpretStored(receipt, project$.value.webhooks);
    },
    funds: ({ instanceId, request: { agent } }) =>
      budgets.funds({ instanceId, agent: agent.name, onLimit: agent.budget.onLimit }),
  });
}
