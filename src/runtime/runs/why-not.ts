import {
  createRefusedDeliveries,
  createUnmatchedReceipts,
} from "../../features/webhooks/refused-deliveries.ts";
import type { AgentRecord, ConfiguredAgent } from "../../../streams/status/agent-record.ts";
import type { WhyNot, WhyNotQuery, TurnedAway } from "../../features/webhooks/delivery-report.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import { blockedError, unmetError } from "../../../streams/status/agent-record.ts";
import type { LockStatus } from "../../../streams/status/wire.ts";
import { neededText } from "../../foundation/contracts/budget.ts";
import { nanoOfUsd } from "../../foundation/contracts/money.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isoTime } from "../../../streams/iso-times.ts";
import { counted, momentText } from "../../foundation/contracts/format.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import type { AgentNow } from "./run-context.ts";
import type { Store } from "../../foundation/store/store.ts";
import { interpretStored } from "../../features/webhooks/interpret.ts";
import { explain } from "../../features/webhooks/binding-index.ts";

export interface WhyNotDeps {
  readonly store: {
    readonly tables: Store["tables"];
    readonly history: Store["history"];
    readonly receipts: Store["receipts"];
  };
  readonly redactor: Redactor;
}

/** Why an agent did not run: `now` is supplied by the caller. Known secrets are redacted. */
export async function whyNot(
  { name, config }: ConfiguredAgent,
  now: readonly string[],
  { since, limit }: WhyNotQuery,
  { store, redactor }: WhyNotDeps,
): Promise<WhyNot> {
  const query = { agent: name, page: 1, limit, since, refused: true } as const;
  const from = since === undefined ? 0 : Date.parse(since);
  const sources = [...new Set(config?.webhooks.map(({ source }) => source))];
  const none = { turnedAway: [], lookedBackTo: null };
  const deliveries =
    config === null || sources.length === 0
      ? none
      : await turnedAway(config, { sources, since: from, limit }, store);
  const { query: refusedOf } = store.tables(createRefusedDeliveries);
  const refusedDeliveries = sources
    .flatMap((source) => refusedOf({ source, since, limit }))
    .sort((a, b) => b.lastAt.localeCompare(a.lastAt))
    .slice(0, limit);
  const { triggers: refused } = store.history.query(query);
  const answer: WhyNot = { now: [...now], refused, ...deliveries, refusedDeliveries };
  return redactor.redactValue(answer) as WhyNot;
}

/** An agent of a running scheduler, and why it can't run now. Throws Problem `unknown_agent`. */
export function agentNow(name: string, { status, store, project$ }: SchedulerContext): AgentNow {
  const agent = knownAgent(status, name);
  const { scheduler, locks } = status.snapshot();
  const { paused, pausedWork, running } = scheduler;
  const { scale } = project$.value;
  const held = pausedWork ? store.waitingWork.count(name) : null;
  return { agent, now: whyNotNow(agent, { paused, held, running, scale, locks }) };
}

/** The project around an agent. */
interface ProjectNow {
  readonly paused: boolean;
  /** How much work of the agent waits while all new work is paused; null while it is not. */
  readonly held: number | null;
  /** Number of live runs of all agents, and its limit; null for none. */
  readonly running: number;
  readonly scale: number | null;
  readonly locks: readonly LockStatus[];
}

/** Why an agent can't start runs now, or its runs can't continue: one sentence each, the most important first. */
export function whyNotNow(agent: AgentRecord, project: ProjectNow): string[] {
  const reasons = [...ownReasons(agent), ...reasonsToWait(agent, project)];
  const given = reasons.filter(([holds]) => holds).map(([, text]) => text);
  return [...given, ...lockTexts(agent.name, project.locks)];
}

type Reason = readonly [holds: boolean, text: string];

function ownReasons(agent: AgentRecord): readonly Reason[] {
  const { config, enabled, configError, buildError, building, unmet } = agent;
  return [
    [config === null, `It has no valid config: ${configError ?? "see al doctor"}`],
    [config?.scale === 0, "It is disabled by scale = 0 in its config.toml."],
    [!enabled, `It is disabled: al resume ${agent.name} enables it.`],
    [unmetError(unmet) !== null, `Its runs lack something: ${unmetError(unmet) ?? ""}`],
    [building, "Its image is being built: work waits."],
    [buildError !== null, `Its image could not be built: ${buildError ?? ""}`],
    [blockedError(agent) !== null, `It is retried automatically: ${blockedError(agent) ?? ""}`],
  ];
}

function reasonsToWait(agent: AgentRecord, project: ProjectNow): readonly Reason[] {
  const { config, running, queued, questions } = agent;
  const isFull = config !== null && config.scale > 0 && running >= config.scale;
  const isProjectFull = project.scale !== null && project.running >= project.scale;
  return [
    [project.held !== null, heldText(project.held ?? 0)],
    [project.paused && config?.schedule != null, "The scheduler is paused: ticks are skipped."],
    [agent.usedBudget !== null, budgetText(agent.usedBudget)],
    [isFull, `${running} of ${config?.scale ?? 0} runs are going: work waits, ticks are skipped.`],
    [
      isProjectFull,
      `The project runs as many as it may (${project.scale ?? 0}): work waits, and of its ticks the latest.`,
    ],
    [
      questions.size > 0,
      `Its runs wait for people: ${counted(questions.size, "open question")}; al questions lists them.`,
    ],
    [queued > 0, `${counted(queued, "work item")} in its queue.`],
  ];
}

function heldText(waiting: number): string {
  return `All new work is paused: ${counted(waiting, "work item")} waiting, manual starts are refused; al resume ends the pause.`;
}

function budgetText(used: AgentRecord["usedBudget"]): string {
  if (used === null) return "";
  const { scope, usd, limit, endsAt, onLimit, needed } = used;
  const whose = scope === "project" ? "The project's budget" : "Its budget";
  const work = onLimit === "pause" ? "work waits" : "work is refused";
  const needs = needed === undefined ? "" : `; ${neededText(nanoOfUsd(needed))}`;
  return `${whose} is used up ($${usd.toFixed(2)} of $${limit.toFixed(2)}${needs}): ${work} until ${momentText(endsAt)}.`;
}

function lockTexts(agent: string, locks: readonly LockStatus[]): string[] {
  return locks
    .filter((lock) => lock.agent === agent && !lock.held)
    .map(({ instanceId, resource }) => {
      const holder = locks.find((lock) => lock.held && lock.resource === resource);
      return `${instanceId} waits for the lock ${resource}, held by ${holder?.instanceId ?? "no run"}.`;
    });
}

/** Limit of the bodies that are read again for one answer, in bytes. */
const mostBytes = 8 * 1024 * 1024;

/**
 * The stored deliveries that an agent's filters reject, with the reasons. They are compared with its config on request:
 * the receipt of a delivery costs the same for any number of agents that don't match. `since` is epoch ms.
 */
async function turnedAway(
  { name, webhooks }: AgentConfig,
  query: Parameters<ReturnType<typeof createUnmatchedReceipts>["of"]>[1],
  store: WhyNotDeps["store"],
) {
  const { since, limit } = query;
  const unmatched = store.tables(createUnmatchedReceipts);
  const found = unmatched.of(name, { ...query, limit: limit + 1 });
  const shown: TurnedAway[] = [];
  let bytes = 0;
  for (const receipt of found.slice(0, limit)) {
    bytes += receipt.bytes;
    if (bytes > mostBytes) return { turnedAway: shown, lookedBackTo: isoTime(receipt.at) };
    const one = compared({ name, webhooks }, receipt.id, store);
    if (one !== null) shown.push(one);
    // Each body is parsed again: other work runs in between.
    await nextTurn();
  }
  const next = found[limit]?.at ?? unmatched.firstLeftOut(since);
  return { turnedAway: shown, lookedBackTo: isoTime(next) };
}

function compared(
  agent: Pick<AgentConfig, "name" | "webhooks">,
  receiptId: string,
  { receipts }: WhyNotDeps["store"],
): TurnedAway | null {
  const receipt = receipts.get(receiptId);
  const read = receipt && interpretStored(receipt);
  if (receipt === null || read === null) return null;
  const { source, at } = receipt;
  const stoppedBy = explain(agent, source, read);
  if (stoppedBy === null) return null;
  const { event, action } = read.event;
  const mismatches = stoppedBy.map((entry) =>
    entry.map(({ condition, wanted, got }) => ({ condition, wanted, got })),
  );
  return { receiptId, at: isoTime(at), source, event, action, stoppedBy: mismatches };
}
