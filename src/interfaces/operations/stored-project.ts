import { createSpend } from "../../features/spend/spend-store.ts";
import { totalOf } from "../../../streams/triggers/gather.ts";
import { basename } from "node:path";
import { isoTime } from "../../../streams/iso-times.ts";
import { problemSummary, problemText } from "../../../streams/problem-text.ts";
import { newRecord, toAgentStatus } from "../../../streams/status/agent-record.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { AgentStatus } from "../../../streams/status/wire.ts";
import { bareSkillProblem, listAgents } from "../../foundation/config/agent-files.ts";
import { machineTimezone } from "../../foundation/config/fields.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import { readProject } from "../../foundation/config/read-project.ts";
import { resolveProject } from "../../foundation/config/resolve-project.ts";
import { budgetsFor } from "../../foundation/contracts/budget.ts";
import { storedSecrets } from "../../foundation/credentials/list-credentials.ts";
import { createRedactor } from "../../foundation/credentials/redactor.ts";
import { messageOf } from "../../foundation/errors.ts";
import { createBlobs } from "../../foundation/files/blobs.ts";
import { createArtifactStore } from "../../features/artifacts/artifact-store.ts";
import {
  listArtifacts,
  readArtifactText,
  type ArtifactContext,
} from "../../features/artifacts/operations.ts";
import { createLogSource } from "../../foundation/logs/log-source.ts";
import { pauseStatus, seedFrom } from "../../foundation/scheduler/status-store.ts";
import { openStoreReader, type StoreReader } from "../../foundation/store/store.ts";
import { createAuditStore, type Audit } from "../../features/people/audit.ts";
import { createMemoryReports } from "../../features/memory/memory-reports.ts";
import { createMemoryStore } from "../../features/memory/memory-store.ts";
import { memoryReads, type MemoryContext } from "../../features/memory/operations.ts";
import { memoryOptions } from "../../runtime/runs/memory-options.ts";
import { withProposals } from "../../runtime/runs/proposals.ts";
import { createQuestionStore } from "../../features/people/question-store.ts";
import { inProcess, operationAt } from "../../foundation/perform.ts";
import type { InputOf, Named, Operation, OutputOf } from "../../foundation/operation.ts";
import { budgetStates } from "../../features/spend/budget-states.ts";
import { createLedger } from "../../features/spend/rules/ledger.ts";
import { showSpend, type SpendContext } from "../../features/spend/operations.ts";
import { listSessions } from "../../features/sessions/operations.ts";
import { createSessionStore, type SessionStore } from "../../features/sessions/session-store.ts";
import { listActs, listQuestions, type DifferenceOf } from "../../features/people/operations.ts";
import { filterTable } from "../../features/webhooks/providers/table.ts";
import type { PauseStatus } from "../views/pause-text.ts";
import { checkAgents } from "../../runtime/agents/project-files.ts";
import { createSpendAnswers, spentTodayIn } from "../../features/spend/spend-answers.ts";
import {
  compareRuns,
  listRefusedDeliveries,
  listTriggers,
  showRun,
  showTrace,
  showWhyNot,
} from "../../runtime/runs/history-operations.ts";
import { listSchedules, showSchedule } from "../../runtime/runs/schedule-operations.ts";
import type { StoredRunContext } from "../../runtime/runs/run-context.ts";

/** What reads need of a stored project. */
interface StoredContext extends StoredRunContext, ArtifactContext, MemoryContext {
  readonly store: StoredRunContext["store"];
  readonly redactor: StoredRunContext["redactor"];
  readonly sessions: SessionStore;
  readonly questions: ReturnType<typeof withProposals>;
  readonly differenceOf: DifferenceOf;
  readonly audit: Pick<Audit, "page">;
  readonly spend: Pick<SpendContext["spend"], "answer">;
}

/** The reads that need no scheduler. */
const storedOperations = [
  listQuestions,
  listActs,
  ...memoryReads,
  showSpend,
  listTriggers,
  listRefusedDeliveries,
  showWhyNot,
  showSchedule,
  listSchedules,
  showRun,
  showTrace,
  compareRuns,
  listArtifacts,
  readArtifactText,
  listSessions,
] as const satisfies readonly Operation<StoredContext>[];
export type StoredOperations = Named<typeof storedOperations>;

/**
 * Opens a project for reading while no scheduler runs it; its files and its store are unchanged. Null without a store.
 * Throws the errors of `openStoreReader`. Answers hold no secret of the credential store in `home`.
 */
export function openStoredProject({
  projectDir,
  home,
}: {
  readonly projectDir: string;
  readonly home: string;
}) {
  const store = openStoreReader(projectDir);
  if (store === null) return null;
  // Most reads need neither the project's files nor the stored secrets.
  const files = once(() => readProjectFiles(projectDir));
  const secrets = once(async () => {
    const redactor = createRedactor();
    redactor.add(await storedSecrets(home));
    return redactor;
  });
  const proposed = store.tables(createMemoryStore);
  const memories = createMemoryReports({
    store: proposed,
    blobs: createBlobs(projectDir),
    optionsOf: async (name) => {
      const { project, agents } = await files();
      return memoryOptions(name, project, (agent) => agents.find((one) => one.name === agent));
    },
  });
  const questions = withProposals(store.tables(createQuestionStore), {
    store: proposed,
    memories,
    keepMs: () => usualKeepMs,
  });
  const context: StoredContext = {
    questions,
    differenceOf: questions.differenceOf,
    memories,
    sessions: store.tables(createSessionStore),
    audit: store.tables(createAuditStore),
    spend: { answer: async (query) => spendOf(store, await files())(query) },
    artifacts: store.tables(createArtifactStore),
    blobs: createBlobs(projectDir),
    store,
    logs: createLogSource(projectDir),
    get redactor() {
      return secrets();
    },
    runs: { find: () => undefined },
    agentNow: async (name) => {
      const { agents, project } = await files();
      const agent = agents.find((one) => one.name === name) ?? { name, config: null };
      const sources = project?.webhooks ?? {};
      return { agent, now: ["No scheduler is running."], sources };
    },
    planned: async () => {
      const { agents, project } = await files();
      return { agents, calendars: project?.calendars ?? {} };
    },
  };
  return {
    /** Performs a read over the stored project. */
    perform: async <Address extends keyof StoredOperations>(
      address: Address,
      given: InputOf<StoredOperations[Address]>,
    ): Promise<OutputOf<StoredOperations[Address]>> => {
      const { row, input } = operationAt<StoredContext>(storedOperations, address, given);
      return (await row.perform(input, context, inProcess)) as OutputOf<StoredOperations[Address]>;
    },
    status: async () => {
      const status = statusOf(projectDir, store, await files());
      return (await secrets()).redactValue(status) as StoredStatus;
    },
    /** Directories that may be agents, sorted. */
    agentNames: async () => (await listAgents(projectDir)).names,
    close: () => store.close(),
  };
}

/** The default of `historyRetentionDays`: a list of questions needs no config. */
const usualKeepMs = 14 * 86_400_000;

/** Reads at the first call, and returns the same afterwards. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null;
  return () => (found ??= read());
}

type ProjectFiles = Awaited<ReturnType<typeof readProjectFiles>>;

/** Reads a project's files. An error in them is part of the result, and never thrown. */
export async function readProjectFiles(projectDir: string) {
  const { project, error } = await projectAt(projectDir);
  const { checked, bareSkills } = await checkAgents(projectDir, project);
  return {
    project,
    error,
    /** Warnings about directories that have a SKILL.md, but no `config.toml`. */
    warnings: bareSkills.map((name) => problemText(bareSkillProblem(name))),
    agents: checked.map(({ name, config, problems }): AgentRecord => {
      if (config !== null || project === null) return { ...newRecord(name), config };
      const errors = problems.filter(({ severity }) => severity === "error");
      return { ...newRecord(name), configError: problemSummary(errors) ?? "invalid config" };
    }),
  };
}

/** The config of a project. */
interface StoredConfig {
  /** Null while the project's `config.toml` can't be used. */
  readonly project: ProjectConfig | null;
  /** Why the file can't be used; null if it can. */
  readonly error: string | null;
}

async function projectAt(projectDir: string): Promise<StoredConfig> {
  try {
    const change = resolveProject(await readProject(projectDir), filterTable);
    if (change.type === "set") return { project: change.project, error: null };
    return { project: null, error: problemSummary(change.problems) };
  } catch (error) {
    return { project: null, error: messageOf(error) };
  }
}

function spendOf(store: StoreReader, { project, ...files }: ProjectFiles) {
  const disabled = store.settings.disabledAgents();
  const agents = files.agents.map((one) => ({ ...one, enabled: !disabled.has(one.name) }));
  return createSpendAnswers({
    report: store.tables(createSpend),
    limits: (names) => (project === null ? [] : limitsOf(store, project, agents, names)),
    agents: () => agents,
    timezone: () => timezoneOf(project),
    now: Date.now,
  });
}

function limitsOf(
  store: StoreReader,
  { budget, timezone }: ProjectConfig,
  agents: readonly AgentRecord[],
  names: readonly string[],
) {
  const configs = new Map(agents.map(({ name, config }) => [name, config]));
  const ledger = createLedger(store.tables(createSpend).account);
  const budgetsOf = (agent: string | null) =>
    budgetsFor(budget, configs.get(agent ?? "")?.budget, timezone);
  return budgetStates(ledger, names, budgetsOf, Date.now());
}

function statusOf(
  projectDir: string,
  store: StoreReader,
  { project, error, warnings, agents }: ProjectFiles,
): StoredStatus {
  const disabled = store.settings.disabledAgents();
  const waiting = store.waitingWork.counts();
  const lastAlive = store.settings.lastAlive();
  const seed = seedFrom(
    (agent) => store.lastRun(agent),
    (agent) => !disabled.has(agent),
    spentTodayIn(store.tables(createSpend), () => timezoneOf(project)),
  );
  return {
    scheduler: null,
    project: basename(projectDir),
    ...pauseStatus(store.settings.pause()),
    lastAliveAt: isoTime(lastAlive),
    error,
    warnings,
    agents: agents.map((record) => {
      const queued = waiting.get(record.name) ?? 0;
      const { debounce = null } = record.config ?? {};
      const gathering = totalOf(store.gatherings.ofAgent(record.name), debounce, Date.now());
      return toAgentStatus({ ...record, ...seed(record.name), queued, gathering });
    }),
  };
}

function timezoneOf(project: ProjectConfig | null): string {
  return project?.timezone ?? machineTimezone();
}

/** A project's state as read from its files and store while no scheduler runs it. */
export interface StoredStatus extends PauseStatus {
  /** Null, unlike in the snapshot of a scheduler. */
  readonly scheduler: null;
  /** The project directory's name. */
  readonly project: string;
  /** When a scheduler was last alive, ISO 8601 UTC; null before the first. */
  readonly lastAliveAt: string | null;
  /** Why the project's config.toml can't be used; null when it can. */
  readonly error: string | null;
  readonly warnings: readonly string[];
  readonly agents: readonly AgentStatus[];
}
