import { basename } from "node:path";
import { toAgentStatus } from "../../../streams/status/agent-record.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { budgetsFor } from "../../foundation/contracts/budget.ts";
import { createLedger } from "../../features/spend/rules/ledger.ts";
import { listAgents } from "../../foundation/config/agent-files.ts";
import { machineTimezone } from "../../foundation/config/timezone.ts";
import type { HistoryPage, HistoryQuery } from "../../foundation/contracts/history.ts";
import type {
  RefusedDeliveries,
  RefusedDeliveriesQuery,
} from "../../foundation/contracts/refused-deliveries.ts";
import type { RunDifference, RunView } from "../../foundation/contracts/run-view.ts";
import type { WhyNot, WhyNotQuery } from "../../foundation/contracts/why-not.ts";
import type { SpendAnswer, SpendRequest } from "../../foundation/contracts/spend-report.ts";
import type { StoredStatus } from "../../foundation/contracts/stored-status.ts";
import { createRedactor } from "../../foundation/credentials/redactor.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import { storedSecrets } from "../../foundation/credentials/stored-secrets.ts";
import { createLogSource } from "../../foundation/logs/log-source.ts";
import { compareRuns } from "./compare-runs.ts";
import { createSpendAnswers } from "./spend-answer.ts";
import type { SpendAnswerDeps } from "./spend-answer.ts";
import { whyNot } from "./why-not.ts";
import { viewRun } from "./view-run.ts";
import { budgetStates } from "../../features/spend/budget-states.ts";
import { openStoreReader } from "../../foundation/store/store-reader.ts";
import type { StoreReader } from "../../foundation/store/store-reader.ts";
import { spentTodayIn } from "./spent-today.ts";
import { seedFrom } from "../../runtime/scheduler/status-store.ts";
import { readProjectFiles } from "./stored-agents.ts";
import type { ProjectFiles } from "./stored-agents.ts";

/** Answers about a project that no scheduler runs, from its files and its store, which stay as they are. */
export interface StoredProject {
  history(query: HistoryQuery): HistoryPage;
  refusedDeliveries(query: RefusedDeliveriesQuery): readonly RefusedDeliveries[];
  whyNot(agent: string, query: WhyNotQuery): Promise<WhyNot>;
  /** Rejects with OperationError `unknown_instance`. */
  run(instanceId: string): Promise<RunView>;
  /** Rejects with OperationError `unknown_instance` or `unknown_version`. */
  runDifference(instanceId: string, other: string | null): Promise<RunDifference>;
  spend(asked: SpendRequest): Promise<SpendAnswer>;
  status(): Promise<StoredStatus>;
  /** Directories that may be agents, sorted. */
  agentNames(): Promise<readonly string[]>;
  close(): void;
}

export interface StoredProjectOptions {
  /** Absolute. */
  readonly projectDir: string;
  /** The home of the credential store, whose secrets no answer holds. */
  readonly home: string;
}

/** Opens a project for reading. Null where no scheduler has made a store yet. Throws what `openStoreReader` throws. */
export function openStoredProject({
  projectDir,
  home,
}: StoredProjectOptions): StoredProject | null {
  const store = openStoreReader(projectDir);
  if (store === null) return null;
  const logs = createLogSource(projectDir);
  return {
    history: (query) => store.history.query(query),
    refusedDeliveries: (query) => store.refused.query(query),
    whyNot: async (name, query) => {
      const { agents } = await readProjectFiles(projectDir);
      const record = agents.find((one) => one.name === name);
      const redactor = await redactorOf(home);
      return whyNot(record ?? { name, config: null }, ["No scheduler is running."], query, {
        store,
        redactor,
      });
    },
    run: async (instanceId) =>
      viewRun(instanceId, { store, logs, redactor: await redactorOf(home) }),
    runDifference: async (instanceId, other) =>
      compareRuns(instanceId, other, { store, redactor: await redactorOf(home) }),
    spend: async (asked) => spendOf(store, await readProjectFiles(projectDir))(asked),
    status: async () => {
      const files = await readProjectFiles(projectDir);
      const redactor = await redactorOf(home);
      return redactor.redactValue(statusOf(projectDir, store, files)) as StoredStatus;
    },
    agentNames: async () => (await listAgents(projectDir)).names,
    close: () => store.close(),
  };
}

async function redactorOf(home: string): Promise<Redactor> {
  const redactor = createRedactor();
  redactor.add(await storedSecrets(home));
  return redactor;
}

function spendOf(
  store: StoreReader,
  { project, ...files }: ProjectFiles,
): (asked: SpendRequest) => SpendAnswer {
  const disabled = store.settings.disabledAgents();
  const agents = files.agents.map((one) => ({ ...one, enabled: !disabled.has(one.name) }));
  return createSpendAnswers({
    report: store.spendReport,
    limits: limitsFrom(store, project, agents),
    agents: () => agents,
    timezone: () => timezoneOf(project),
    now: Date.now,
  });
}

/** Without a usable config there are none. */
function limitsFrom(
  store: StoreReader,
  project: ProjectFiles["project"],
  agents: readonly AgentRecord[],
): SpendAnswerDeps["limits"] {
  if (project === null) return () => [];
  const { budget, timezone } = project;
  const configs = new Map(agents.map(({ name, config }) => [name, config]));
  const ledger = createLedger((scope, window) => store.spend.account(scope, window));
  const budgetsOf = (agent: string | null) =>
    budgetsFor(budget, configs.get(agent ?? "")?.budget, timezone);
  return (names) => budgetStates(ledger, names, budgetsOf, Date.now());
}

function statusOf(
  projectDir: string,
  store: StoreReader,
  { project, error, warnings, agents }: ProjectFiles,
): StoredStatus {
  const disabled = store.settings.disabledAgents();
  const waiting = store.waiting();
  const lastAlive = store.settings.lastAlive();
  const seed = seedFrom(
    (agent) => store.lastRun(agent),
    (agent) => !disabled.has(agent),
    spentTodayIn(store.spend, () => timezoneOf(project)),
  );
  return {
    scheduler: null,
    project: basename(projectDir),
    paused: store.settings.paused(),
    lastAliveAt: lastAlive === null ? null : new Date(lastAlive).toISOString(),
    error,
    warnings,
    agents: agents.map((record) => {
      const queued = waiting.get(record.name) ?? 0;
      return toAgentStatus({ ...record, ...seed(record.name), queued });
    }),
  };
}

function timezoneOf(project: ProjectFiles["project"]): string {
  return project?.timezone ?? machineTimezone();
}
