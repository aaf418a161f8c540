import { createSpend } from "../../features/spend/spend-store.ts";
import { hasCode, Problem } from "../../foundation/errors.ts";
import { kindOf } from "../../foundation/contracts/log-kinds.ts";
import { logFileOf } from "../../foundation/logs/log-files.ts";
import { positionId } from "../../foundation/logs/log-position.ts";
import { everything } from "../../foundation/logs/log-scan.ts";
import type { LogSource } from "../../foundation/logs/log-source.ts";
import type { Failing } from "../../foundation/contracts/history.ts";
import { runMemory } from "../../features/memory/memory-reports.ts";
import { createMemoryStore } from "../../features/memory/memory-store.ts";
import { createAuditStore } from "../../features/people/audit.ts";
import { createQuestionStore } from "../../features/people/question-store.ts";
import { questionView } from "../../foundation/contracts/question-views.ts";
import { createInboxStore } from "../../features/people/inbox-store.ts";
import { createSessionStore, type SessionStore } from "../../features/sessions/session-store.ts";
import { isoTime } from "../../../streams/iso-times.ts";
import { durationText } from "../../../streams/duration-text.ts";
import { lateText } from "../../../streams/late-text.ts";
import { inboxView, runEntrySchema } from "./run-view.ts";
import type { InboxView, RunVersionView, RunView, RunDifference } from "./run-view.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import type { StoredRun } from "../../foundation/store/runs.ts";
import { spendView } from "../../features/spend/spend-answers.ts";
import type { Store } from "../../foundation/store/store.ts";

/** The stored runs. */
export interface WithRuns {
  readonly runs: Store["runs"];
}

export interface ViewRunDeps {
  readonly store: WithRuns & {
    readonly tables: Store["tables"];
    readonly hosts: Store["hosts"];
    readonly receipts: Store["receipts"];
  };
  readonly logs: LogSource;
  readonly redactor: Redactor;
}

/** A run with all its data, its secrets redacted; with `withPrompt`, the model's input. Throws Problem `unknown_instance`. */
export async function viewRun(
  instanceId: string,
  deps: ViewRunDeps,
  withPrompt = false,
): Promise<RunView> {
  const view = await viewOf(instanceId, deps);
  return withPrompt ? { ...view, modelPrompt: await modelPrompt(view, deps.logs) } : view;
}

async function viewOf(instanceId: string, deps: ViewRunDeps): Promise<RunView> {
  const { store, redactor } = deps;
  const run = mustHaveRun(instanceId, store);
  const { agent, caller, callId, source, receiptId } = run.entry;
  const { trigger } = run;
  const redact = (text: string | null) => (text === null ? null : redactor.redact(text));
  const context = redact(trigger?.kind === "agent-call" ? trigger.context : null);
  const scheduledFor = trigger?.kind === "cron" ? new Date(trigger.scheduledFor) : null;
  // Includes the hosts of the last second.
  await store.hosts.flush();
  // Names and ids are kept, even if a credential has such a value: pages and commands find the run by them.
  return {
    ...runEntrySchema.parse(run.entry),
    instanceId,
    agent: agent ?? "",
    value: redactor.redactValue(run.value),
    lastWords: await lastWords(run.entry, instanceId, deps.logs),
    prompt: redact(trigger?.kind === "manual" ? trigger.prompt : null),
    payload: receiptId === null ? null : await payloadOf(receiptId, deps),
    ...gatheredIn(run),
    scheduledFor: scheduledFor?.toISOString() ?? null,
    late: lateOf(run),
    spend: spendView(store.tables(createSpend).run(instanceId)),
    version: versionView(run),
    lastSuccess: lastSuccess(run, instanceId, store),
    failing: failingAt(instanceId, store),
    hosts: [...store.hosts.of(instanceId)],
    memory: runMemory(instanceId, store.tables(createMemoryStore)),
    questions: store.tables(createQuestionStore).ofRun(instanceId).map(questionView),
    ...ofPeople(instanceId, agent, deps),
    acts: store.tables(createAuditStore).page({ instance: instanceId, limit: 5 }).entries,
    calls: {
      received:
        callId === null ? null : { callId, caller: source, callerInstance: caller, context },
      made: [...store.runs.callsOf(instanceId)],
    },
  };
}

function gatheredIn({ gathered }: StoredRun) {
  return gathered === null ? {} : { gathered };
}

function lateOf({ trigger, entry: { at, attempt, startedAt } }: StoredRun): string | null {
  if (trigger === null || startedAt === null) return null;
  if (trigger.kind === "cron" && trigger.late !== undefined) {
    return `${durationText(Date.parse(startedAt) - trigger.scheduledFor)} late: ${trigger.late}`;
  }
  return lateText({ trigger, attempt, at: Date.parse(at) }, Date.parse(startedAt));
}

/** The messages of people to the run, and the runs that share its session. */
function ofPeople(instanceId: string, agent: string | null, { store, redactor }: ViewRunDeps) {
  const messages = store.tables(createInboxStore).ofRun(instanceId).map(inboxView);
  const sessions = store.tables(createSessionStore);
  return {
    messages: redactor.redactValue(messages) as InboxView[],
    isKept: sessions.programOf(instanceId) !== null,
    continues: sessions.continued(instanceId),
    thread: threadOf(agent, sessions.keyOf(instanceId), sessions),
    continuedBy: messages.flatMap(({ continuedBy }) => continuedBy ?? []),
  };
}

function threadOf(
  agent: string | null,
  key: string | null,
  sessions: SessionStore,
): RunView["thread"] {
  if (agent === null || key === null) return null;
  const runs = sessions.thread(agent, key).map((run) => ({ ...run, at: isoTime(run.at) }));
  return { key, runs };
}

/** Throws Problem `unknown_instance`. */
export function mustHaveRun(instanceId: string, store: Pick<Store, "runs">): StoredRun {
  const run = store.runs.find(instanceId);
  if (run !== undefined) return run;
  const message = `there is no run "${instanceId}" in the history`;
  throw new Problem("unknown_instance", message);
}

/** The version of a run; null for one of an earlier version of the program. */
function versionView({ entry: { version }, git }: StoredRun): RunVersionView | null {
  if (version === null) return null;
  return { hash: version, commit: git?.commit ?? null, dirty: git?.dirty ?? null };
}

function lastSuccess(
  { entry: { version } }: StoredRun,
  instanceId: string,
  { runs }: WithRuns,
): RunView["lastSuccess"] {
  const earlier = runs.succeededBefore(instanceId);
  if (earlier === null) return null;
  const before = runs.find(earlier)?.entry.version ?? null;
  const isKnown = version !== null && before !== null;
  return { instanceId: earlier, changed: isKnown ? before !== version : null };
}

/** The agent's failed runs from its last success to this run; null if the run did not fail. */
function failingAt(instanceId: string, { runs }: WithRuns): Failing | null {
  const failing = runs.failingAt(instanceId);
  if (failing === null) return null;
  const [now, before] = [instanceId, failing.lastSuccess?.instanceId].map((id) => {
    const { version = null } = (id === undefined ? undefined : runs.find(id)?.entry) ?? {};
    return version === null ? undefined : runs.content(version);
  });
  const changed =
    now === undefined || before === undefined
      ? null
      : (["config", "instructions", "scripts"] as const).filter(
          (part) => now[part] !== before[part],
        );
  return { ...failing, changed };
}

/** How long an agent has been failing; null if its latest run that was not stopped succeeded. */
export function agentFailing(agent: string, store: Store): Failing | null {
  const instanceId = store.runs.latestJudged(agent);
  return instanceId === null ? null : failingAt(instanceId, store);
}

const maxPayloadChars = 20_000;

async function payloadOf(
  receiptId: string,
  { store, redactor }: ViewRunDeps,
): Promise<string | null> {
  // Loaded on demand, as it loads every provider, and most runs have no delivery.
  const { viewReceipt } = await import("../../features/webhooks/receipt-view.ts");
  try {
    const receipt = (id: string) => store.receipts.get(id);
    const { payload, text } = viewReceipt(receiptId, { receipt, redactor });
    return (text ?? JSON.stringify(payload, null, 2)).slice(0, maxPayloadChars);
  } catch (error) {
    if (hasCode(error, "unknown_receipt")) return null;
    throw error;
  }
}

/** After the model's last text come the run's own end, its hooks and its usage. */
const lastLines = 200;

async function lastWords(
  { agent, at, endedAt }: StoredRun["entry"],
  instanceId: string,
  logs: ViewRunDeps["logs"],
): Promise<string | null> {
  const times = { from: Date.parse(at), to: endedAt === null ? Date.now() : Date.parse(endedAt) };
  const lines = await logs.read({ agent, instanceId, lines: lastLines, after: null, times });
  return lines.findLast(({ entry }) => kindOf(entry) === "said")?.entry.msg ?? null;
}

const maxWarnings = 10;

/** The first warnings and errors in the log of a run, such as about an MCP server that it can't use. */
export async function firstWarnings(
  { agent, instanceId, startedAt }: RunView,
  logs: ViewRunDeps["logs"],
): Promise<string[]> {
  if (startedAt === null) return [];
  const after = positionId(logFileOf(agent, Date.parse(startedAt)).name, 0);
  const filter = { level: 40, text: "" };
  const query = { agent, instanceId, filter, lines: maxWarnings, from: { after } };
  return (await logs.page(query)).lines.map(({ entry }) => entry.msg);
}

/** Lines of a run that are read at once: images and pre hooks log before its prompt. */
const pageLines = 1_000;

/** Reads forward from the run's start: a run may have logged for days since. */
async function modelPrompt(
  { agent, instanceId, startedAt, endedAt }: RunView,
  logs: ViewRunDeps["logs"],
): Promise<string | null> {
  if (startedAt === null) return null;
  const ended = endedAt === null ? Infinity : Date.parse(endedAt);
  const query = { agent, instanceId, filter: everything, lines: pageLines };
  const parts: string[] = [];
  let after: string | null = positionId(logFileOf(agent, Date.parse(startedAt)).name, 0);
  while (after !== null) {
    const { lines, newer, atEnd, reachedAt } = await logs.page({ ...query, from: { after } });
    const prompts = lines.filter(({ entry }) => kindOf(entry) === "prompt");
    parts.push(...prompts.map(({ entry }) => String(entry.output)));
    const isOver = atEnd || (reachedAt ?? 0) > ended;
    const isWhole = parts.length > 0 && lines.at(-1) !== prompts.at(-1);
    after = isOver || isWhole ? null : newer;
  }
  return parts.length === 0 ? null : parts.join("");
}

/**
 * Compares the versions of two runs, from the one that started first to the later one. Without `other`, the first is
 * the agent's last successful run before it. Throws Problem `unknown_instance` or `unknown_version`.
 */
export async function compareRuns(
  instanceId: string,
  other: string | null,
  { store, redactor }: Pick<ViewRunDeps, "store" | "redactor">,
): Promise<RunDifference> {
  const one = ranContent(instanceId, store);
  const two = ranContent(other ?? mustHaveEarlier(instanceId, store), store);
  const [from, to] = one.startedAt < two.startedAt ? [one, two] : [two, one];
  // Few requests need it, and the library that compares is loaded with the first.
  const { difference } = await import("../../features/versions/difference.ts");
  return {
    from: { instanceId: from.instanceId, version: from.version },
    to: { instanceId: to.instanceId, version: to.version },
    changed: from.version.hash !== to.version.hash,
    text: redactor.redact(difference(from, to)),
  };
}

function mustHaveEarlier(instanceId: string, store: WithRuns): string {
  const earlier = store.runs.succeededBefore(instanceId);
  if (earlier !== null) return earlier;
  const message = `the history has no successful run of its agent before "${instanceId}"; name the run to compare with`;
  throw new Problem("unknown_instance", message);
}

function ranContent(instanceId: string, store: WithRuns) {
  const run = mustHaveRun(instanceId, store);
  const version = versionView(run);
  const content = version === null ? undefined : store.runs.content(version.hash);
  if (version === null || content === undefined) {
    const message = `the config and instructions of the run "${instanceId}" are not stored; runs of an earlier version of the program have none`;
    throw new Problem("unknown_version", message);
  }
  const { startedAt, at } = run.entry;
  return { instanceId, startedAt: startedAt ?? at, version, content };
}
