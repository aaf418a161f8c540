import type { Outcome } from "../../../../streams/outcomes.ts";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { triggerKinds, triggerNames } from "../../../../streams/vocabulary.ts";
import type { SpendKey } from "../../../foundation/contracts/budget.ts";
import { meantOr } from "../../../foundation/contracts/did-you-mean.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import type { RefusedDeliveriesQuery, WhyNot } from "../../../features/webhooks/delivery-report.ts";
import { Problem } from "../../../foundation/errors.ts";
import { byUrgency } from "../../views/agent-order.ts";
import type { Context } from "../context.ts";
import { queryTime } from "../options.ts";
import { renderCost } from "../status/render-cost.ts";
import {
  renderHistory,
  entryRow,
  refusedRow,
  spanRow,
  turnedAwayRow,
} from "../status/render-history.ts";
import { renderRun, differenceNote, renderDifference } from "../status/render-run.ts";
import { renderTrace } from "../status/render-trace.ts";
import { plain } from "../terminal/format.ts";
import { renderStatus } from "../status/render-status.ts";
import { askProject, askRun, mustKnowAgent, type ProjectReader } from "./reader.ts";

/** Prints the scheduler and its agents, or those with a tag. */
export async function showStatus(context: Context, { tag }: { tag?: string }): Promise<void> {
  const { out } = context;
  const all = await askProject(context, (reader) => reader.status());
  const status = tag === undefined ? all : { ...all, agents: tagged(all.agents, tag) };
  if (out.json) return out.document(status);
  const ordered = { ...status, agents: byUrgency(status.agents) };
  out.data(renderStatus(ordered, { ...out, now: Date.now() }));
}

function tagged(agents: readonly AgentStatus[], tag: string): readonly AgentStatus[] {
  const found = agents.filter(({ tags }) => tags.includes(tag));
  if (found.length > 0) return found;
  const known = [...new Set(agents.flatMap(({ tags }) => tags))].sort();
  const list = known.length === 0 ? "No agent has tags yet." : `Choose from ${known.join(", ")}.`;
  throw new Problem("unknown_tag", `no agent has the tag "${tag}"`, meantOr(tag, known, list));
}

interface CostOptions {
  readonly by?: SpendKey;
  /** Epoch ms. */
  readonly since?: number;
}

/** Prints the spending of runs on models, the limits and the forecast. */
export async function showCost(
  context: Context,
  agent: string | undefined,
  { by = agent === undefined ? "agent" : "day", since }: CostOptions,
): Promise<void> {
  const { out } = context;
  const answer = await askProject(context, async (reader) => {
    const spent = await reader.perform("GET /api/spend", { by, since: queryTime(since), agent });
    if (agent !== undefined && spent.rows.length === 0) await mustKnowAgent(reader, agent);
    return spent;
  });
  if (out.json) return out.document(answer);
  const text = renderCost(answer, by, out);
  if (text !== "") out.data(text);
  if (answer.rows.length > 0) return;
  const whose = agent === undefined ? "no run" : `no run of ${agent}`;
  out.note(`${whose} asked a model${since === undefined ? " in the last 30 days" : " since then"}`);
}

interface HistoryOptions {
  readonly deadLetter?: true;
  readonly refused?: true;
  readonly agent?: string;
  /** One of `triggerNames`. */
  readonly kind?: string;
  readonly outcome?: Outcome;
  /** Epoch ms. */
  readonly since?: number;
  readonly lines: number;
}

/** Prints the triggers and how they ended, newest first. */
export async function showHistory(context: Context, options: HistoryOptions): Promise<void> {
  const { out } = context;
  const found = await askProject(context, (reader) => answerOf(reader, options));
  if (out.json) return out.document(found);
  for (const reason of found.now ?? []) out.note(reason);
  const style = { ...out, now: Date.now() };
  const { triggers, refusedDeliveries, spans = [], turnedAway = [] } = found;
  const rows = [
    ...triggers.map((entry) => entryRow(entry, style)),
    ...refusedDeliveries.map((one) => refusedRow(one, style)),
    ...spans.map((one) => spanRow(one, options.agent ?? "", style)),
    ...turnedAway.map((one) => turnedAwayRow(one, options.agent ?? "", style)),
  ];
  if (rows.length === 0) return out.note(nothing(options));
  const newest = rows.sort((a, b) => b.at - a.at).slice(0, options.lines);
  out.data(renderHistory(newest, style));
  const hasRun = triggers.some(({ instanceId }) => instanceId !== null);
  if (out.columns !== null && hasRun) out.note("al show <instance> shows a run in full");
}

/** The document of `--json`. Fields that only an agent's refusals have are absent otherwise. */
type Answer = Partial<Pick<WhyNot, "now" | "spans" | "turnedAway" | "lookedBackTo">> &
  Pick<WhyNot, "refusedDeliveries"> & { readonly triggers: readonly HistoryEntry[] };

async function answerOf(reader: ProjectReader, options: HistoryOptions): Promise<Answer> {
  const { agent } = options;
  if (agent !== undefined && isWhyNot(options) && (await reader.agentNames()).includes(agent)) {
    const { refused: triggers, ...why } = await reader.perform("GET /api/agents/:name/why-not", {
      name: agent,
      ...sinceOf(options),
    });
    return { triggers, ...why };
  }
  const page = await reader.perform("GET /api/stats/triggers", queryOf(options));
  if (agent !== undefined && page.triggers.length === 0) await mustKnowAgent(reader, agent);
  const { deliveries } = hasDeliveries(options)
    ? await reader.perform("GET /api/stats/refused-deliveries", sinceOf(options))
    : { deliveries: [] };
  return { ...page, refusedDeliveries: deliveries };
}

/** Whether to show all reasons why an agent did not run, which needs no further filter. */
function isWhyNot({ refused, kind, outcome, deadLetter }: HistoryOptions): boolean {
  return refused === true && [kind, outcome, deadLetter].every((filter) => filter === undefined);
}

/** Refused deliveries belong to no agent, and have no outcome. */
function hasDeliveries({ agent, kind, outcome, deadLetter }: HistoryOptions): boolean {
  const isOfWork = [agent, outcome, deadLetter].some((filter) => filter !== undefined);
  return !isOfWork && (kind === undefined || kind === triggerNames.webhook);
}

function sinceOf({ since, lines }: HistoryOptions): RefusedDeliveriesQuery {
  return { limit: lines, since: queryTime(since) };
}

function queryOf(options: HistoryOptions) {
  const { lines, deadLetter, refused, agent, outcome, since } = options;
  const kind = triggerKinds.find((one) => triggerNames[one] === options.kind);
  const [dead, isRefused] = [deadLetter, refused].map((one) => one && ("true" as const));
  return {
    limit: lines,
    deadLetter: dead,
    refused: isRefused,
    agent,
    kind,
    outcome,
    since: queryTime(since),
  };
}

function nothing({ agent, deadLetter, refused, kind, outcome, since }: HistoryOptions): string {
  const isFiltered = [kind, outcome, since, refused].some((filter) => filter !== undefined);
  if (isFiltered) return "no entries match these filters";
  const whose = agent === undefined ? "" : ` of ${agent}`;
  return deadLetter ? `no dead letters${whose}` : `nothing${whose} was triggered yet`;
}

interface RunOptions {
  /** The run to compare with; true for the last success. */
  readonly diff?: string | true;
  readonly prompt?: boolean;
  readonly payload?: boolean;
  readonly trace?: boolean;
}

/** Prints one run, its steps, its prompt or payload, or the changes since another run. */
export async function showRun(
  context: Context,
  name: string,
  { diff, prompt = false, payload = false, trace = false }: RunOptions,
): Promise<void> {
  const { out } = context;
  if (diff !== undefined) return showDifference(context, name, diff === true ? null : diff);
  if (trace) return showTrace(context, name);
  const run = await askRun(context, name, (reader, instanceId) =>
    reader.perform("GET /api/runs/:instanceId", {
      instanceId,
      ...(prompt ? { modelPrompt: "true" } : { warnings: "true" }),
    }),
  );
  if (out.json) return out.document(run);
  if (prompt) return printText(out, run.modelPrompt ?? null, noPrompt);
  if (payload) return printText(out, run.payload, "it has no stored delivery");
  out.data(renderRun(run, { colors: out.colors, columns: out.columns, now: Date.now() }));
}

const noPrompt = "its log has no prompt: the session did not begin, or the log is no longer kept";

function printText(out: Context["out"], text: string | null, otherwise: string): void {
  if (text === null) out.note(otherwise);
  else out.data(plain(text));
}

async function showTrace(context: Context, name: string): Promise<void> {
  const { out } = context;
  const trace = await askRun(context, name, (reader, instanceId) =>
    reader.perform("GET /api/runs/:instanceId/trace", { instanceId }),
  );
  if (out.json) return out.document(trace);
  out.data(renderTrace(trace, out));
  if (!trace.isWhole) out.note("The trace is made from the last lines of the run's log.");
}

async function showDifference(context: Context, name: string, other: string | null): Promise<void> {
  const { out } = context;
  const idOf = (asked: string): Promise<string> =>
    askRun(context, asked, async (reader, id) => {
      const run = await reader.perform("GET /api/runs/:instanceId", { instanceId: id });
      return run.instanceId;
    });
  const since = other === null ? null : await idOf(other);
  const difference = await askRun(context, name, (reader, id) =>
    reader.perform("GET /api/runs/:instanceId/diff", { instanceId: id, to: since ?? undefined }),
  );
  if (out.json) return out.document(difference);
  out.note(differenceNote(difference));
  if (difference.changed) out.data(renderDifference(difference.text, out.colors));
}
