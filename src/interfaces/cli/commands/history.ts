import { outcomes, triggerKinds, triggerNames } from "../../../../streams/vocabulary.ts";
import type { Outcome } from "../../../../streams/vocabulary.ts";
import type { RefusedDeliveriesQuery } from "../../../foundation/contracts/refused-deliveries.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import type { WhyNot } from "../../../foundation/contracts/why-not.ts";
import type { HistoryQuestion, ProjectReader } from "../operator/project-reader.ts";
import { askProject, mustKnowAgent } from "../operator/reader.ts";
import { isoTime, moment, wholeNumber } from "../options.ts";

interface HistoryOptions {
  readonly deadLetter?: true;
  readonly refused?: true;
  readonly agent?: string;
  /** In the words of `triggerNames`. */
  readonly kind?: string;
  readonly outcome?: Outcome;
  /** Epoch ms. */
  readonly since?: number;
  readonly lines: number;
}

/** `al history` */
export function historyCommand(): AlCommand {
  return new AlCommand("history")
    .description("show what was triggered and how it ended, newest first")
    .option("--dead-letter", "only what never ran: dropped, refused or unmatched")
    .option(
      "--refused",
      "only what no run was started for, and why; of an agent also what its filters turned away",
    )
    .option("-a, --agent <agent>", "only this agent")
    .choice("--kind <kind>", "filter by trigger type", Object.values(triggerNames))
    .choice("--outcome <outcome>", "only what ended like this", outcomes)
    .option("--since <when>", "only what arrived since then: 10m, 2h, 3d, or a date-time", moment)
    .option("-n, --lines <n>", "how many entries", wholeNumber(1, 200), 20)
    .examples(
      "al history",
      "al history --dead-letter --agent triage -n 50",
      "al history --agent triage --refused",
      "al history --kind schedule --outcome failed --since 3d",
    )
    .action((options: HistoryOptions, command: AlCommand) => history(contextOf(command), options));
}

async function history(context: Context, options: HistoryOptions): Promise<void> {
  const { out } = context;
  const found = await askProject(context, (reader) => answerOf(reader, options));
  if (out.json) return out.document(found);
  for (const reason of found.now ?? []) out.note(reason);
  const { entryRow, refusedRow, turnedAwayRow } = await import("../status/history-rows.ts");
  const { renderHistory } = await import("../status/render-history.ts");
  const style = { ...out, now: Date.now() };
  const { triggers, refusedDeliveries, turnedAway = [] } = found;
  const rows = [
    ...triggers.map((entry) => entryRow(entry, style)),
    ...refusedDeliveries.map((one) => refusedRow(one, style)),
    ...turnedAway.map((one) => turnedAwayRow(one, options.agent ?? "", style)),
  ];
  if (rows.length === 0) return out.note(nothing(options));
  const newest = rows.sort((a, b) => b.at - a.at).slice(0, options.lines);
  out.data(renderHistory(newest, style));
  const hasRun = triggers.some(({ instanceId }) => instanceId !== null);
  if (out.columns !== null && hasRun) out.note("al show <instance> shows a run in full");
}

/** What `--json` prints. What only an agent's refusals have is absent from other questions. */
type Answer = Partial<Pick<WhyNot, "now" | "turnedAway" | "lookedBackTo">> &
  Pick<WhyNot, "refusedDeliveries"> & { readonly triggers: readonly HistoryEntry[] };

async function answerOf(reader: ProjectReader, options: HistoryOptions): Promise<Answer> {
  const { agent } = options;
  if (agent !== undefined && isWhyNot(options) && (await reader.agentNames()).includes(agent)) {
    const { refused: triggers, ...why } = await reader.whyNot(agent, sinceOf(options));
    return { triggers, ...why };
  }
  const page = await reader.history(queryOf(options));
  if (agent !== undefined && page.triggers.length === 0) await mustKnowAgent(reader, agent);
  const refused = hasDeliveries(options) ? await reader.refusedDeliveries(sinceOf(options)) : [];
  return { ...page, refusedDeliveries: [...refused] };
}

/** The whole answer to why an agent did not run is asked for without further filters. */
function isWhyNot({ refused, kind, outcome, deadLetter }: HistoryOptions): boolean {
  return refused === true && [kind, outcome, deadLetter].every((filter) => filter === undefined);
}

/** What was refused at the door is of no agent, was never work, and has no end. */
function hasDeliveries({ agent, kind, outcome, deadLetter }: HistoryOptions): boolean {
  const isOfWork = [agent, outcome, deadLetter].some((filter) => filter !== undefined);
  return !isOfWork && (kind === undefined || kind === triggerNames.webhook);
}

function sinceOf({ since, lines }: HistoryOptions): RefusedDeliveriesQuery {
  return { limit: lines, since: since === undefined ? undefined : isoTime(since) };
}

function queryOf(options: HistoryOptions): HistoryQuestion {
  const { lines, deadLetter, refused, agent, outcome, since } = options;
  const from = since === undefined ? undefined : isoTime(since);
  const kind = triggerKinds.find((one) => triggerNames[one] === options.kind);
  return { limit: lines, deadLetter, refused, agent, kind, outcome, since: from };
}

function nothing({ agent, deadLetter, refused, kind, outcome, since }: HistoryOptions): string {
  const isFiltered = [kind, outcome, since, refused].some((filter) => filter !== undefined);
  if (isFiltered) return "no entries match these filters";
  const whose = agent === undefined ? "" : ` of ${agent}`;
  return deadLetter ? `no dead letters${whose}` : `nothing${whose} was triggered yet`;
}
