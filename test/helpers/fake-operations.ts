import { UserError } from "../../src/foundation/errors.ts";
import { Subject } from "rxjs";
import { listsIn } from "../../streams/status/reduce-status.ts";
import type {
  AgentDetail,
  Lock,
  ReceiptView,
  ReplayResult,
} from "../../src/foundation/contracts/operator-api.ts";
import type { ShownFiles } from "../../src/foundation/contracts/file-edits.ts";
import type { Operations } from "../../src/interfaces/operations/operations.ts";
import type { Delivery, DeliveryAnswer } from "../../src/features/webhooks/provider.ts";
import type { CallTree, HistoryEntry } from "../../src/foundation/contracts/history.ts";
import type {
  RefusedDeliveries,
  WhyNot,
} from "../../src/foundation/contracts/refused-deliveries.ts";
import type { AgentHosts } from "../../src/foundation/contracts/run-hosts.ts";
import type { RunDifference, RunView } from "../../src/interfaces/views/run-view.ts";
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
import { fakeFileOperations } from "./fake-file-operations.ts";
import type { AuditEntryView } from "../../src/features/people/audit-report.ts";
import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { fakeSteerOperations } from "./fake-steer.ts";
import { fakeQuestionOperations } from "./fake-questions.ts";
import { fakeAuditOperations } from "./fake-audit.ts";
import { fakeAlerts, type FakeAlerts } from "./fake-alerts.ts";
import { agentStatus, fakeSnapshot, type NamedStatus } from "./fake-snapshot.ts";
import { mustHave } from "./must-have.ts";

/** Operations that keep a small state of their own and remember what was asked of them. */
export interface FakeOperations extends Operations {
  /** The calls so far, as `name argument …`. */
  readonly calls: string[];
  readonly deliveries: Delivery[];
  receiveWebhook: (delivery: Delivery) => Promise<DeliveryAnswer>;
  answer: DeliveryAnswer;
  phaseNow: "starting" | "running" | "draining";
  storeProblemNow: string | null;
  /** Thrown by the next call that does something. */
  refusal: UserError | null;
  /** The trigger history, in any order. */
  readonly entries: HistoryEntry[];
  /** Responses of `whyNot`, by agent. */
  readonly whyNots: Map<string, WhyNot>;
  /** Response of `refusedDeliveries`. */
  readonly refusedNow: RefusedDeliveries[];
  /** Responses of `agent`, by name; another agent has no config. */
  readonly details: Map<string, AgentDetail>;
  /** The receipts that it has, by id. */
  readonly receipts: Map<string, ReceiptView>;
  readonly heldLocks: Lock[];
  /** Response of `agentFiles`. */
  shownFiles: ShownFiles;
  /** Response of `agentHosts`. */
  deniedHosts: AgentHosts["denied"];
  /** Response of `alerts`. */
  readonly alerting: FakeAlerts;
  /** Response of `questions`, and `answerQuestion` changes. */
  readonly asked: QuestionView[];
  /** What `recordAct` was called with, and `audit` answers: the latest first. */
  readonly acts: AuditEntryView[];
  /** Response of `spend`; empty for a kind without an answer. */
  readonly spending: Map<SpendKey, SpendAnswer>;
  /** Responses of `callTree`, by the id of an entry. */
  readonly trees: Map<string, CallTree>;
  /** What `run` and `runDifference` answer, by instance id. */
  readonly runs: Map<string, RunView>;
  readonly differences: Map<string, RunDifference>;
  /** Changes what a run holds or waits for, and tells the streams. */
  setClaim(claim: LockStatus): void;
  endClaim(claim: LockStatus): void;
  /** Changes an agent, or adds it, and tells the streams. */
  setAgent(agent: NamedStatus): void;
  removeAgent(name: string): void;
  setScheduler(change: Partial<SchedulerStatus>): void;
  addLog(line: Partial<RecentLog> & { readonly msg: string }): void;
  /** Sends an update as it is. */
  emit(update: StatusUpdate): void;
}

/** Makes fake operations with the given agents. */
export function fakeOperations(agents: readonly NamedStatus[] = []): FakeOperations {
  const update = new Subject<StatusUpdate>();
  let seq = 0;
  let snapshot = fakeSnapshot(agents);

  const find = (name: string): AgentStatus => {
    const agent = snapshot.agents.find((known) => known.name === name);
    if (agent === undefined) throw new UserError("unknown_agent", `no agent "${name}"`);
    return agent;
  };
  const otherClaims = ({ resource, instanceId }: LockStatusId): LockStatus[] =>
    snapshot.locks.filter(
      (claim) => claim.resource !== resource || claim.instanceId !== instanceId,
    );
  const called = (...words: readonly unknown[]): void => {
    fake.calls.push(words.map(String).join(" "));
    const { refusal } = fake;
    fake.refusal = null;
    if (refusal !== null) throw refusal;
  };

  const alerting = fakeAlerts();
  const [asked, acts]: [QuestionView[], AuditEntryView[]] = [[], []];
  const fake: FakeOperations = {
    calls: [],
    deliveries: [],
    answer: { status: 200, body: { receiptId: "r1", matched: [] } },
    phaseNow: "running",
    storeProblemNow: null,
    refusal: null,
    snapshot: () => snapshot,
    countsOf: (isMine) => fakeCounts(fake, isMine),
    update$: update.asObservable(),
    entries: [],
    details: new Map(),
    hasAgent: (name) => snapshot.agents.some((agent) => agent.name === name),
    agent: (name) => fake.details.get(find(name).name) ?? { config: null, nextTicks: [] },
    phase: () => fake.phaseNow,
    storeProblem: () => fake.storeProblemNow,
    emit: (change) => update.next(change),
    setAgent(change) {
      const known = snapshot.agents.find(({ name }) => name === change.name);
      const agent = { ...(known ?? agentStatus(change)), ...change };
      const others = snapshot.agents.filter(({ name }) => name !== change.name);
      const sorted = [...others, agent].sort((a, b) => a.name.localeCompare(b.name));
      snapshot = { ...snapshot, agents: sorted };
      update.next({ agents: [agent] });
    },
    removeAgent(name) {
      snapshot = { ...snapshot, agents: snapshot.agents.filter((agent) => agent.name !== name) };
      update.next({ removed: [name] });
    },
    setScheduler(change) {
      snapshot = { ...snapshot, scheduler: { ...snapshot.scheduler, ...change } };
      update.next({ scheduler: snapshot.scheduler, changed: listsIn(change) });
    },
    addLog(line) {
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
    setPaused: async (paused, work = false) => {
      called("setPaused", paused, ...(work ? ["work"] : []));
      const pausedAt = paused ? new Date().toISOString() : null;
      fake.setScheduler({ paused, pausedWork: paused && work, pausedAt });
      await Promise.resolve();
    },
    setEnabled: async (name, enabled) => {
      called("setEnabled", name, enabled);
      fake.setAgent({ ...find(name), enabled });
      await Promise.resolve();
    },
    trigger: async (name, prompt) => {
      called("trigger", name, prompt);
      const agent = find(name);
      if (!agent.enabled) throw new UserError("disabled", `${name} is disabled`);
      fake.setAgent({ ...agent, state: "running", running: agent.running + 1 });
      await Promise.resolve();
      return { triggerId: "t1", instanceId: `${name}-abcdefgh`, queued: false };
    },
    killAgent: async (name) => {
      called("killAgent", name);
      const { running } = find(name);
      fake.setAgent({ name, state: "idle", running: 0 });
      return await Promise.resolve(running);
    },
    killInstance: async (instanceId) => {
      called("killInstance", instanceId);
      await Promise.resolve();
    },
    ...fakeSteerOperations(called),
    stop: (now) => called(now ? "stop now" : "stop"),
    history(query) {
      fake.calls.push(`history ${JSON.stringify(query)}`);
      return fakeHistoryPage(fake.entries, query);
    },
    failing: () => null,
    latestRuns: (names) => fakeLatestRuns(fake.entries, names),
    whyNots: new Map(),
    whyNot: (name) => Promise.resolve(fake.whyNots.get(find(name).name) ?? emptyWhyNot),
    refusedNow: [],
    refusedDeliveries: (query) => {
      fake.calls.push(`refusedDeliveries ${JSON.stringify(query)}`);
      return Promise.resolve(fake.refusedNow);
    },
    receipts: new Map(),
    heldLocks: [],
    trees: new Map(),
    callTree: (id) => mustHave(fake.trees, id, "unknown_trigger"),
    setClaim: (claim) => {
      snapshot = { ...snapshot, locks: [...otherClaims(claim), claim] };
      update.next({ locks: [claim] });
    },
    endClaim: ({ resource, instanceId }) => {
      snapshot = { ...snapshot, locks: otherClaims({ resource, instanceId }) };
      update.next({ unlocked: [{ resource, instanceId }] });
    },
    runs: new Map(),
    run: (id) => {
      called("run", id);
      return Promise.resolve(mustHave(fake.runs, id, "unknown_instance"));
    },
    differences: new Map(),
    runDifference: (id, other) => {
      called("runDifference", id, other);
      return Promise.resolve(mustHave(fake.differences, id, "unknown_instance"));
    },
    receipt: (id) => mustHave(fake.receipts, id, "unknown_receipt"),
    replay: async (receiptId, agent): Promise<ReplayResult> => {
      called("replay", receiptId, agent);
      fake.receipt(receiptId);
      const names = agent === null ? snapshot.agents.map(({ name }) => name) : [find(agent).name];
      const matched = names.map((name) => {
        const started = { agent: name, outcome: "started", replayOf: null } as const;
        return { ...started, instanceId: `${name}-abcdefgh`, triggerId: `t-${name}` };
      });
      return await Promise.resolve({ receiptId, replayId: "p1", matched, reason: null });
    },
    replayTrigger: async (id): Promise<ReplayResult> => {
      called("replayTrigger", id);
      const replayed = { agent: "dev", outcome: "started", instanceId: "dev-aaaaaaaa" } as const;
      const matched = [{ ...replayed, triggerId: "t2", replayOf: id }];
      return await Promise.resolve({ receiptId: null, replayId: "p2", matched, reason: null });
    },
    spending: new Map(),
    spend: (asked) => {
      fake.calls.push(`spend ${JSON.stringify(asked)}`);
      return fake.spending.get(asked.by) ?? { rows: [], limits: [], forecast: null };
    },
    raiseBudget: (scope, usd) => {
      called("raiseBudget", scope, usd);
      return Promise.resolve([]);
    },
    ...fakeFileOperations(() => fake, find, called),
    alerting,
    ...fakeAlertOperations(alerting, called),
    asked,
    ...fakeQuestionOperations(asked),
    acts,
    ...fakeAuditOperations(acts),
    alerts: (query) => {
      fake.calls.push(`alerts ${JSON.stringify(query)}`);
      return fake.alerting.page(query);
    },
    locks: () => fake.heldLocks,
    receiveWebhook: async (delivery) => {
      called("receiveWebhook", delivery.type, delivery.source);
      fake.deliveries.push(delivery);
      return await Promise.resolve(fake.answer);
    },
  };
  return fake;
}
