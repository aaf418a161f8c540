import { UserError } from "../../src/foundation/errors.ts";
import { Subject } from "rxjs";
import { listsIn } from "../../streams/status/reduce-status.ts";
import type {
  AgentDetail,
  Lock,
  ReceiptView,
  ReplayResult,
} from "../../src/foundation/contracts/operator-api.ts";
import type { RunService } from "../../src/runtime/runs/run-service.ts";
import type { FileContext } from "../../src/runtime/agents/operations.ts";
import type { Delivery, DeliveryAnswer } from "../../src/features/webhooks/provider.ts";
import type { CallTree, HistoryEntry } from "../../src/foundation/contracts/history.ts";
import type { RefusedDeliveries, WhyNot } from "../../src/features/webhooks/delivery-report.ts";
import type { AgentHosts } from "../../src/foundation/contracts/run-hosts.ts";
import type { RunDifference, RunView } from "../../src/runtime/runs/run-view.ts";
import type { SpendKey } from "../../src/foundation/contracts/budget.ts";
import type { SpendAnswer } from "../../src/features/spend/spend-report.ts";
import type {
  AgentStatus,
  LockStatus,
  LockStatusId,
  RecentLog,
  SchedulerStatus,
  StatusUpdate,
} from "../../streams/status/wire.ts";
import { emptyWhyNot } from "./empty-why-not.ts";
import { fakeHistoryPage, fakeLatestRuns } from "./fake-history-page.ts";
import { fakeAlertOperations, fakeCounts } from "./fake-alert-operations.ts";
import { fakeFileOperations, shownFiles } from "./fake-file-operations.ts";
import type { AuditEntryView } from "../../src/features/people/audit-report.ts";
import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { fakeSteerOperations } from "./fake-steer.ts";
import type { OperationContext } from "../../src/interfaces/operations/table.ts";
import { fakeQuestions } from "./fake-questions.ts";
import { fakeAudit } from "./fake-audit.ts";
import { memoryTokens } from "./memory-tokens.ts";
import { fakeAlerts } from "./fake-alerts.ts";
import { agentStatus, fakeSnapshot, type NamedStatus } from "./fake-snapshot.ts";
import { mustHave } from "./must-have.ts";

/**
 * Makes operations with the given agents that keep a small state of their own, which a test sets, and remember what was
 * asked of them.
 */
export function fakeOperations(agents: readonly NamedStatus[] = []) {
  const update = new Subject<StatusUpdate>();
  let seq = 0;
  let snapshot = fakeSnapshot(agents);
  const [asked, acts]: [QuestionView[], AuditEntryView[]] = [[], []];
  const state = {
    /** The calls so far, as `name argument …`. */
    calls: [] as string[],
    deliveries: [] as Delivery[],
    answer: { status: 200, body: { receiptId: "r1", matched: [] } } as DeliveryAnswer,
    phaseNow: "running" as "starting" | "running" | "draining",
    storeProblemNow: null as string | null,
    /** Thrown by the next call that does something. */
    refusal: null as UserError | null,
    /** The trigger history, in any order. */
    entries: [] as HistoryEntry[],
    /** Responses of `whyNot`, by agent. */
    whyNots: new Map<string, WhyNot>(),
    /** Response of `refusedDeliveries`. */
    refusedNow: [] as RefusedDeliveries[],
    /** Responses of `agent`, by name; another agent has no config. */
    details: new Map<string, AgentDetail>(),
    /** The receipts that it has, by id. */
    receipts: new Map<string, ReceiptView>(),
    heldLocks: [] as Lock[],
    /** Response of `agentFiles`. */
    shownFiles,
    /** Response of `agentHosts`. */
    deniedHosts: [] as AgentHosts["denied"],
    /** Response of `alerts`. */
    alerting: fakeAlerts(),
    /** The questions, which answers change. */
    asked,
    /** The audit trail, the latest first. */
    acts,
    /** Response of `spend`; empty for a kind without an answer. */
    spending: new Map<SpendKey, SpendAnswer>(),
    /** Responses of `callTree`, by the id of an entry. */
    trees: new Map<string, CallTree>(),
    /** What `run` and `runDifference` answer, by instance id. */
    runs: new Map<string, RunView>(),
    differences: new Map<string, RunDifference>(),
    receiveWebhook: async (delivery: Delivery): Promise<DeliveryAnswer> => {
      called("receiveWebhook", delivery.type, delivery.source);
      state.deliveries.push(delivery);
      return await Promise.resolve(state.answer);
    },
  };

  const find = (name: string): AgentStatus => {
    const agent = snapshot.agents.find((known) => known.name === name);
    if (agent === undefined) throw new UserError("unknown_agent", `no agent "${name}"`);
    return agent;
  };
  const called = (...words: readonly unknown[]): void => {
    state.calls.push(words.map(String).join(" "));
    const { refusal } = state;
    state.refusal = null;
    if (refusal !== null) throw refusal;
  };
  const withoutClaim = ({ resource, instanceId }: LockStatusId): LockStatus[] =>
    snapshot.locks.filter(
      (claim) => claim.resource !== resource || claim.instanceId !== instanceId,
    );
  /** Ways in which a test changes the snapshot; the streams are told. */
  const changes = {
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
  const operations: RunService & FileContext["files"] & Pick<FileContext, "agentHosts"> = {
    running: () => snapshot.scheduler.running,
    snapshot: () => snapshot,
    countsOf: (isMine) => fakeCounts(state, isMine),
    update$: update.asObservable(),
    hasAgent: (name) => snapshot.agents.some((agent) => agent.name === name),
    agent: (name) => state.details.get(find(name).name) ?? { config: null, nextTicks: [] },
    phase: () => state.phaseNow,
    storeProblem: () => state.storeProblemNow,
    setPaused: async (paused, work = false) => {
      called("setPaused", paused, ...(work ? ["work"] : []));
      const pausedAt = paused ? new Date().toISOString() : null;
      changes.setScheduler({ paused, pausedWork: paused && work, pausedAt });
      await Promise.resolve();
    },
    setEnabled: async (name, enabled) => {
      called("setEnabled", name, enabled);
      changes.setAgent({ ...find(name), enabled });
      await Promise.resolve();
    },
    trigger: async (name, prompt) => {
      called("trigger", name, prompt);
      const agent = find(name);
      if (!agent.enabled) throw new UserError("disabled", `${name} is disabled`);
      changes.setAgent({ ...agent, state: "running", running: agent.running + 1 });
      await Promise.resolve();
      return { triggerId: "t1", instanceId: `${name}-abcdefgh`, queued: false };
    },
    killAgent: async (name) => {
      called("killAgent", name);
      const { running } = find(name);
      changes.setAgent({ name, state: "idle", running: 0 });
      return await Promise.resolve(running);
    },
    killInstance: async (instanceId) => {
      called("killInstance", instanceId);
      await Promise.resolve();
    },
    ...fakeSteerOperations(called),
    stop: (now) => called(now ? "stop now" : "stop"),
    history(query) {
      state.calls.push(`history ${JSON.stringify(query)}`);
      return fakeHistoryPage(state.entries, query);
    },
    failing: () => null,
    latestRuns: (names) => fakeLatestRuns(state.entries, names),
    whyNot: (name) => Promise.resolve(state.whyNots.get(find(name).name) ?? emptyWhyNot),
    refusedDeliveries: (query) => {
      state.calls.push(`refusedDeliveries ${JSON.stringify(query)}`);
      return Promise.resolve(state.refusedNow);
    },
    callTree: (id) => mustHave(state.trees, id, "unknown_trigger"),
    run: (id) => {
      called("run", id);
      return Promise.resolve(mustHave(state.runs, id, "unknown_instance"));
    },
    runDifference: (id, other) => {
      called("runDifference", id, other);
      return Promise.resolve(mustHave(state.differences, id, "unknown_instance"));
    },
    receipt: (id) => mustHave(state.receipts, id, "unknown_receipt"),
    replay: async (receiptId, agent): Promise<ReplayResult> => {
      called("replay", receiptId, agent);
      mustHave(state.receipts, receiptId, "unknown_receipt");
      const names = agent === null ? snapshot.agents.map(({ name }) => name) : [find(agent).name];
      const matched = names.map((name) => {
        const started = { agent: name, outcome: "started", replayOf: null } as const;
        return { ...started, instanceId: `${name}-abcdefgh`, triggerId: `t-${name}` };
      });
      return await Promise.resolve({ receiptId, replayId: "p1", matched, reason: null });
    },
    replayTrigger: async (id): Promise<ReplayResult> => {
      called("replayTrigger", id);
      const agent = state.entries.find((one) => one.id === id)?.agent ?? "dev";
      const replayed = { agent, outcome: "started", instanceId: "dev-aaaaaaaa" } as const;
      const matched = [{ ...replayed, triggerId: "t2", replayOf: id }];
      return await Promise.resolve({ receiptId: null, replayId: "p2", matched, reason: null });
    },
    ...fakeFileOperations(state, find, called),
    locks: () => state.heldLocks,
  };
  // A test replaces members of `runs`.
  const all = Object.assign(state, changes, operations);
  const context: OperationContext = {
    runs: all,
    files: all,
    agentHosts: all.agentHosts,
    search: {
      find: () => Promise.resolve({ runs: [], next: null, indexedUntil: null, indexing: null }),
    },
    status: { agent: (name) => snapshot.agents.find((agent) => agent.name === name) },
    alerts: {
      ...fakeAlertOperations(state.alerting, called),
      page: (query) => {
        state.calls.push(`alerts ${JSON.stringify(query)}`);
        return state.alerting.page(query);
      },
    },
    spend: {
      answer: (query) => {
        state.calls.push(`spend ${JSON.stringify(query)}`);
        return state.spending.get(query.by) ?? { rows: [], limits: [], forecast: null };
      },
      raise: (scope, usd) => {
        called("raiseBudget", scope, usd);
        return Promise.resolve([]);
      },
    },
    questions: fakeQuestions(asked),
    allowAlways: all.allowAlways,
    audit: fakeAudit(acts),
    tokens: memoryTokens(),
  };
  return Object.assign(all, { context });
}

export type FakeOperations = ReturnType<typeof fakeOperations>;
