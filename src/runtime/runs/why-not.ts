import {
  createRefusedDeliveries,
  createUnmatchedReceipts,
} from "../../features/webhooks/refused-deliveries.ts";
import type { AgentRecord, ConfiguredAgent } from "../../../streams/status/agent-record.ts";
import type { WhyNot, WhyNotQuery, TurnedAway } from "../../features/webhooks/delivery-report.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import { blockedError, unmetError } from "../../../streams/status/agent-record.ts";
import type { Calendars } from "../../../streams/triggers/calendar.ts";
import type { LockStatus } from "../../../streams/status/wire.ts";
import { leftOutTexts } from "../../foundation/config/upcoming-runs.ts";
import { usedUpText } from "../../foundation/contracts/budget.ts";
import { nanoOfUsd } from "../../foundation/contracts/money.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isoTime } from "../../../streams/iso-times.ts";
import { counted, momentText, sentenceOf } from "../../foundation/contracts/format.ts";
import { schedulesOf, type AgentConfig } from "../../../streams/agent-config.ts";
import { serialText } from "../../foundation/config/concurrency.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import type { AgentNow } from "./run-context.ts";
import type { Store } from "../../foundation/store/store.ts";
import { interpretStored } from "../../features/webhooks/interpret.ts";
import { limitedSchedules } from "../../../streams/triggers/next-run.ts";
import { missedSpans } from "./missed-slots.ts";
import { explain } from "../../features/webhooks/binding-index.ts";

export interface WhyNotDeps {
  readonly store: {
    readonly tables: Store["tables"];
    readonly history: Store["history"];
    readonly receipts: Store["receipts"];
    readonly slots: Store["slots"];
  };
  readonly redactor: Redactor;
  readonly calendars: Calendars;
  readonly sources: AgentNow["sources"];
}

/** How far to look back for ticks that calendars left out. */
const leftOutMs = 7 * 86_400_000;

/** Why an agent did not run: `now` is supplied by the caller. Known secrets are redacted. */
export async function whyNot(
  { name, config }: ConfiguredAgent,
  now: readonly string[],
  { since, limit }: WhyNotQuery,
  deps: WhyNotDeps,
): Promise<WhyNot> {
  const { store, redactor, calendars } = deps;
  const query = { agent: name, page: 1, limit, since, refused: true } as const;
  const from = since === undefined ? 0 : Date.parse(since);
  const sources = [...new Set(config?.webhooks.map(({ source }) => source))];
  const none = { turnedAway: [], lookedBackTo: null };
  const deliveries =
    config === null || sources.length === 0
      ? none
      : await turnedAway(config, { sources, since: from, limit }, deps);
  const { query: refusedOf } = store.tables(createRefusedDeliveries);
  const refusedDeliveries = sources
    .flatMap((source) => refusedOf({ source, since, limit }))
    .sort((a, b) => b.lastAt.localeCompare(a.lastAt))
    .slice(0, limit);
  const { triggers: refused } = store.history.query(query);
  const schedules = limitedSchedules(config, calendars);
  const spans = missedSpans({ name, schedules }, store.slots, from, Date.now());
  const latest = Math.max(from, Date.now() - leftOutMs);
  const leftOut = config === null ? [] : leftOutTexts(config, calendars, latest, Date.now());
  const sentences = [...now, ...leftOut];
  const answer: WhyNot = { now: sentences, refused, spans, ...deliveries, refusedDeliveries };
  return redactor.redactValue(answer) as WhyNot;
}

/** An agent of a running scheduler, and why it can't run now. Throws Problem `unknown_agent`. */
export function agentNow(name: string, { status, store, project$ }: SchedulerContext): AgentNow {
  const agent = knownAgent(status, name);
  const { scheduler, locks } = status.snapshot();
  const { paused, pausedWork, running } = scheduler;
  const { scale } = project$.value;
  const held = pausedWork ? store.waitingWork.count(name) : null;
  const missed = store.slots.planned(name);
  const { webhooks: sources } = project$.value;
  return { agent, now: whyNotNow(agent, { paused, held, missed, running, scale, locks }), sources };
}

/** The project around an agent. */
interface ProjectNow {
  readonly paused: boolean;
  /** How much work of the agent waits while all new work is paused; null while it is not. */
  readonly held: number | null;
  /** How many missed runs of the agent are still to start, one after another. */
  readonly missed: number;
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
    [config === null, `No valid config: ${configError ?? "see al doctor"}`],
    [config?.scale === 0, "Disabled by scale = 0 in its config.toml."],
    [!enabled, `Disabled. Enable it with al resume ${agent.name}.`],
    [unmetError(unmet) !== null, `Missing requirement: ${unmetError(unmet) ?? ""}`],
    [building, "Building its image. New work is queued."],
    [buildError !== null, `Its image can't be built: ${buildError ?? ""}`],
    [blockedError(agent) !== null, `Waiting to retry: ${blockedError(agent) ?? ""}`],
  ];
}

function reasonsToWait(agent: AgentRecord, project: ProjectNow): readonly Reason[] {
  const { config, running, queued, gathering, questions } = agent;
  const isFull = config !== null && config.scale > 0 && running >= config.scale;
  const isProjectFull = project.scale !== null && project.running >= project.scale;
  return [
    [project.held !== null, heldText(project.held ?? 0)],
    [
      project.paused && config !== null && schedulesOf(config).length > 0,
      "Schedules are paused. Scheduled runs are skipped.",
    ],
    [agent.usedBudget !== null, budgetText(agent.usedBudget)],
    [isFull, busyText(agent)],
    [
      isProjectFull,
      `Project limit reached (${counted(project.scale ?? 0, "run")}). New work is queued; of scheduled runs, the latest.`,
    ],
    [
      questions.size > 0,
      `Waiting for people: ${counted(questions.size, "open question")}. List them with al questions.`,
    ],
    [queued > 0, `${counted(queued, "work item")} queued.`],
    [project.missed > 0, `${counted(project.missed, "missed run")} to start, one after another.`],
    [gathering !== null, gatheringText(agent)],
    ...keysReasons(agent),
  ];
}

function gatheringText({ name, gathering }: AgentRecord): string {
  if (gathering === null) return "";
  const { deliveries, startsAt } = gathering;
  const many = deliveries === 1 ? "1 delivery gathers" : `${deliveries} deliveries gather`;
  return `${many} for a run until ${momentText(startsAt)}. Start it now with al agent start-now ${name}.`;
}

function busyText({ config, running }: AgentRecord): string {
  const ticks = config?.overlap === "wait" ? "wait, one of each schedule" : "are skipped";
  return `Busy (${running} of ${config?.scale ?? 0} runs). New work is queued; scheduled runs ${ticks}.`;
}

/** Queued work may wait for a run of its key although its agent is not busy. */
function keysReasons({ config, queued, running }: AgentRecord): readonly Reason[] {
  const { concurrency = null, session = null } = config ?? {};
  const isWaiting = queued > 0 && running > 0;
  const keys = [
    concurrency &&
      `key ${JSON.stringify(concurrency.key)}: ${counted(concurrency.limit, "run")} of a`,
    session && `session key ${JSON.stringify(session.key)}: 1 run of a`,
  ].filter((text) => text !== null);
  const serial = keys.length === 0 ? null : serialText(config?.scale ?? 0);
  return keys.map((text, index) => {
    const whole = `Queued work may wait for its ${text} key at once.`;
    return [isWaiting, serial === null || index > 0 ? whole : `${whole} ${sentenceOf(serial)}`];
  });
}

function heldText(waiting: number): string {
  return `All new work is paused: ${counted(waiting, "work item")} queued, manual starts are rejected. Resume with al resume.`;
}

function budgetText(used: AgentRecord["usedBudget"]): string {
  if (used === null) return "";
  const { usd, limit, needed, endsAt, onLimit } = used;
  const amounts = { spent: nanoOfUsd(usd), cap: nanoOfUsd(limit) };
  const needs = needed === undefined ? {} : { needed: nanoOfUsd(needed) };
  const text = sentenceOf(usedUpText({ ...used, ...amounts, ...needs }));
  const work = onLimit === "pause" ? "queued" : "rejected";
  return `${text} New work is ${work} until ${momentText(endsAt)}.`;
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
  deps: WhyNotDeps,
) {
  const { since, limit } = query;
  const unmatched = deps.store.tables(createUnmatchedReceipts);
  const found = unmatched.of(name, { ...query, limit: limit + 1 });
  const shown: TurnedAway[] = [];
  let bytes = 0;
  for (const receipt of found.slice(0, limit)) {
    bytes += receipt.bytes;
    if (bytes > mostBytes) return { turnedAway: shown, lookedBackTo: isoTime(receipt.at) };
    const one = compared({ name, webhooks }, receipt.id, deps);
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
  { store, sources }: WhyNotDeps,
): TurnedAway | null {
  const receipt = store.receipts.get(receiptId);
  const read = receipt && interpretStored(receipt, sources);
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
