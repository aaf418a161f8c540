import { Problem } from "../../src/foundation/errors.ts";
import { newRecord } from "../../streams/status/agent-record.ts";
import type { Kill } from "../../streams/runs/run-agent.ts";
import type { AgentAnswer, ReceiptView } from "../../src/foundation/contracts/operator-api.ts";
import type { Delivery, DeliveryAnswer } from "../../src/features/webhooks/provider.ts";
import type {
  CallTree,
  HistoryEntry,
  HistoryQuery,
  HourlyRuns,
} from "../../src/foundation/contracts/history.ts";
import type { RefusedDeliveries, WhyNot } from "../../src/features/webhooks/delivery-report.ts";
import type { AgentHosts } from "../../src/foundation/contracts/run-hosts.ts";
import type { IsMine, Operation } from "../../src/foundation/operation.ts";
import { createRedactor } from "../../src/foundation/credentials/redactor.ts";
import { agentDetail } from "../../src/runtime/runs/agent-detail.ts";
import type { RunCall } from "../../src/features/spend/call-totals.ts";
import type { RunDifference, RunView } from "../../src/runtime/runs/run-view.ts";
import type { SpendKey } from "../../src/foundation/contracts/budget.ts";
import type { SpendAnswer, SpendRequest } from "../../src/features/spend/spend-report.ts";
import { emptyWhyNot } from "./empty-why-not.ts";
import { fakeHistoryPage, fakeLatestRuns } from "./fake-history-page.ts";
import { fakeSchedules, withNext, type MadeDetail } from "./fake-schedules.ts";
import { fakeFileOperations, shownFiles } from "./fake-file-operations.ts";
import type { AuditEntryView } from "../../src/features/people/audit-report.ts";
import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { operations } from "../../src/interfaces/operations/table.ts";
import type { NamedOperations, OperationContext } from "../../src/interfaces/operations/table.ts";
import { replayed, unmatchedReplay } from "./fake-replays.ts";
import { fakeBackfill } from "./fake-backfill.ts";
import { fakeTrace } from "./fake-trace.ts";
import { fakeCounts } from "./fake-counts.ts";
import { fakeArtifacts } from "./fake-artifacts.ts";
import { fakeMemories } from "./fake-memories.ts";
import { fakeAudit } from "./fake-audit.ts";
import { memoryTokens } from "./memory-tokens.ts";
import { fakeAlerts } from "./fake-alerts.ts";
import { fakeStatus, type NamedStatus } from "./fake-snapshot.ts";
import { fakeSwitches } from "./fake-switches.ts";
import { mustHave } from "./must-have.ts";

const done = { success: true } as const;
const noRuns = { runs: [], next: null, indexedUntil: null, indexing: null };

/**
 * Makes operations with the given agents that keep a small state of their own, which a test sets, and remember what was
 * asked of them.
 */
export function fakeOperations(agents: readonly NamedStatus[] = []) {
  const status = fakeStatus(agents);
  const { find } = status;
  const [asked, acts]: [QuestionView[], AuditEntryView[]] = [[], []];
  const state = {
    /** The calls so far, as `name argument …`. */
    calls: [] as string[],
    deliveries: [] as Delivery[],
    answer: { status: 200, body: { receiptId: "r1", matched: [] } } as DeliveryAnswer,
    phaseNow: "running" as "starting" | "running" | "draining",
    storeProblemNow: null as string | null,
    /** Thrown by the next call that does something. */
    refusal: null as Problem | null,
    /** The trigger history, in any order. */
    entries: [] as HistoryEntry[],
    /** Response of `hourlyRuns`. */
    hours: [] as HourlyRuns["hours"],
    /** Responses of `whyNot`, by agent. */
    whyNots: new Map<string, WhyNot>(),
    /** Response of `refusedDeliveries`. */
    refusedNow: [] as RefusedDeliveries[],
    /** Responses of an agent's detail, by name; another agent has no config. */
    details: new Map<string, MadeDetail>(),
    failing: (): AgentAnswer["failing"] => null,
    /** The receipts that it has, by id. */
    receipts: new Map<string, ReceiptView>(),
    /** Response of `agentFiles`. */
    shownFiles,
    /** Response of `agentHosts`. */
    deniedHosts: [] as AgentHosts["denied"],
    /** Response of `alerts`. */
    alerting: fakeAlerts((...words) => called(...words)),
    /** The questions, which answers change. */
    asked,
    /** The audit trail, the latest first. */
    acts,
    /** Response of `spend`; empty for a kind without an answer. */
    spending: new Map<SpendKey, SpendAnswer>(),
    /** Responses of `callTree`, by the id of an entry. */
    trees: new Map<string, CallTree>(),
    artifacts: fakeArtifacts(),
    /** What `run` and `runDifference` answer, by instance id. */
    runs: new Map<string, RunView>(),
    differences: new Map<string, RunDifference>(),
    /** Calls to models in the trace of each run. */
    modelCalls: [] as RunCall[],
    receiveWebhook: async (delivery: Delivery): Promise<DeliveryAnswer> => {
      called("receiveWebhook", delivery.type, delivery.source);
      state.deliveries.push(delivery);
      return await Promise.resolve(state.answer);
    },
  };
  const called = (...words: readonly unknown[]): void => {
    state.calls.push(words.map(String).join(" "));
    const { refusal } = state;
    state.refusal = null;
    if (refusal !== null) throw refusal;
  };
  /** A read that remembers its query. */
  const noted =
    <Query, Found>(name: string, read: (query: Query) => Found) =>
    (query: Query): Found => {
      state.calls.push(`${name} ${JSON.stringify(query)}`);
      return read(query);
    };
  const fakes = fakeMemories((...words) => called(...words), asked);
  const answers: Answers = {
    "POST /control/trigger/:name": ({ name, prompt = null }, _context, { idempotencyKey }) => {
      idempotencyKey();
      called("trigger", name, prompt);
      const agent = find(name);
      if (!agent.enabled) throw new Problem("disabled", `${name} is disabled`);
      status.setAgent({ ...agent, state: "running", running: agent.running + 1 });
      const instanceId = `${name}-abcdefgh`;
      return { ...done, agent: name, triggerId: "t1", instanceId, queued: false };
    },
    "POST /api/agents/:name/clone": ({ name, to }) => {
      called("clone", find(name).name, to);
      return { ...done, agent: to };
    },
    "POST /api/runs/:instanceId/steer": ({ instanceId, ...given }, _context, { by }) => {
      const text = "text" in given ? given.text : null;
      called("steer", instanceId, text ?? "stop");
      const kind = text === null ? "stop" : "steer";
      const message = { seq: 1, at: new Date().toISOString(), kind, text: text ?? "", by } as const;
      return { ...message, receivedAt: null, continuedBy: null };
    },
    "POST /api/runs/:instanceId/continue": ({ instanceId, prompt }) => {
      called("continue", instanceId, prompt);
      const started = { triggerId: "t2", instanceId: "dev-zyxwvuts", queued: false };
      return { ...done, agent: "dev", ...started };
    },
    "GET /api/agents/:name/sessions": ({ name, key = "octo/site#7" }) => {
      const [at, until] = [new Date(0).toISOString(), new Date(1).toISOString()];
      const instanceId = `${find(name).name}-abcdefgh`;
      const kept = { key, instanceId, at, until, bytes: 2048, runs: 2, live: null };
      return { sessions: [kept] };
    },
    "POST /api/agents/:name/sessions/remove": ({ name, key = "all" }) => {
      called("removeSessions", name, key);
      return { removed: 1 };
    },
    "POST /api/agents/:name/backfill": (given) => fakeBackfill(given, called),
    "GET /api/agents/:name/why-not": ({ name }) =>
      state.whyNots.get(find(name).name) ?? emptyWhyNot,
    "GET /api/runs/:instanceId": ({ instanceId }) => {
      called("run", instanceId);
      return mustHave(state.runs, instanceId, "unknown_instance");
    },
    "GET /api/runs/:instanceId/diff": ({ instanceId, to = null }) => {
      called("runDifference", instanceId, to);
      return mustHave(state.differences, instanceId, "unknown_instance");
    },
    "GET /api/runs/:instanceId/trace": ({ instanceId }, { logs }) =>
      fakeTrace(mustHave(state.runs, instanceId, "unknown_instance"), logs, state.modelCalls),
    "GET /api/stats/webhooks/:receiptId": ({ receiptId }) =>
      mustHave(state.receipts, receiptId, "unknown_receipt"),
    "POST /api/webhooks/:receiptId/replay?agent": ({ receiptId, agent = null }) => {
      called("replay", receiptId, agent);
      mustHave(state.receipts, receiptId, "unknown_receipt");
      const names =
        agent === null ? all.snapshot().agents.map(({ name }) => name) : [find(agent).name];
      const matched = names.map((name) => replayed(name, `${name}-abcdefgh`, `t-${name}`, null));
      return { receiptId, replayId: "p1", matched, reason: null };
    },
    "POST /api/webhooks/replay-unmatched": ({ since, source = null, dryRun = false }) => {
      called("replayUnmatched", since, source, dryRun);
      return unmatchedReplay(state.receipts.values(), all.snapshot().agents);
    },
    "POST /api/triggers/:id/replay": ({ id }) => {
      called("replayTrigger", id);
      const agent = state.entries.find((one) => one.id === id)?.agent ?? "dev";
      const matched = [replayed(agent, "dev-aaaaaaaa", "t2", id)];
      return { receiptId: null, replayId: "p2", matched, reason: null };
    },
    "GET /dashboard/api/agents/:name": async ({ name }) => {
      const facts = await agentDetail(find(name).name, context);
      return { ...withNext(name, facts, state.details.get(name)), failing: state.failing() };
    },
  };
  const killed = (kill: Kill): void => {
    if ("everything" in kill) called("killAll");
    else if ("instanceId" in kill) called("killInstance", kill.instanceId);
    else if ("agent" in kill) {
      called("killAgent", kill.agent);
      status.setAgent({ name: kill.agent, state: "idle", running: 0 });
    }
  };
  const refusedDeliveries = {
    flush: () => Promise.resolve(),
    query: noted("refusedDeliveries", () => state.refusedNow),
  };
  const files = fakeFileOperations(state, find, called);
  const all = Object.assign(state, status, { memory: fakes.state });
  const agentOf = (name: string) => ({ name, config: state.details.get(name)?.config ?? null });
  const context = {
    ...files,
    files,
    ...state.artifacts.context,
    get alerts() {
      return { ...state.alerting, page: noted("alerts", state.alerting.page) };
    },
    ...fakeSchedules(() => status.snapshot().agents.map(({ name }) => agentOf(name)), find),
    audit: fakeAudit(acts),
    countsOf: (isMine: IsMine) => fakeCounts(state.alerting, asked, isMine),
    gatherings: { startNow: noted("startNow", () => [{}, { gathered: ["r1", "r2", "r3"] }]) },
    inputs: { kill$: { next: killed } },
    ...fakes.context,
    redactor: createRedactor(),
    runs: { find: () => ({}) },
    search: { find: noted("search", () => Promise.resolve(noRuns)) },
    spend: {
      answer: noted(
        "spend",
        ({ by }: SpendRequest) =>
          state.spending.get(by) ?? { rows: [], limits: [], forecast: null },
      ),
      raise: (scope: string, usd: number) => {
        called("raiseBudget", scope, usd);
        return Promise.resolve([]);
      },
    },
    status: {
      snapshot: () => all.snapshot(),
      get update$() {
        return all.update$;
      },
      running: () => status.snapshot().scheduler.running,
      claims: () => status.snapshot().locks,
      agent: (name: string) => {
        const agent = status.snapshot().agents.find((known) => known.name === name);
        return agent && { ...newRecord(name), ...agentOf(name), running: agent.running };
      },
    },
    stopping: {
      phase: () => state.phaseNow,
      stop: () => called("stop"),
      stopNow: () => called("stop now"),
    },
    store: {
      history: {
        query: noted("history", (query: HistoryQuery) => fakeHistoryPage(state.entries, query)),
        latestRuns: (names: readonly string[]) => fakeLatestRuns(state.entries, names),
        hourlyRuns: () => state.hours,
        callTree: (id: string) => state.trees.get(id),
      },
      problem: () => state.storeProblemNow,
      receipts: { get: (id: string) => state.receipts.get(id) ?? null },
      runs: { latestJudged: () => null, find: (id: string) => state.runs.get(id) },
      settings: { recordAlive: () => Promise.resolve() },
      tables: () => refusedDeliveries,
    },
    switches: fakeSwitches(called, status),
    tokens: memoryTokens(),
    // Operations that use more are answered above.
  } as unknown as OperationContext;
  const rows: readonly Operation<OperationContext>[] = operations;
  const given: Readonly<Record<string, Operation<OperationContext>["perform"] | undefined>> =
    answers;
  return Object.assign(all, {
    context,
    rows: rows.map((row) => ({ ...row, perform: given[row.address] ?? row.perform.bind(row) })),
  });
}

/** Answers of operations without their services. */
type Answers = { [Address in keyof NamedOperations]?: NamedOperations[Address]["perform"] };

export type FakeOperations = ReturnType<typeof fakeOperations>;
