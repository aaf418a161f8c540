import { outcomes, triggerKinds } from "../../../streams/vocabulary.ts";
import type { Outcome, TriggerKind } from "../../../streams/vocabulary.ts";
import type { HistoryPage } from "../../contracts/history.ts";
import type { Client } from "../operator/client.ts";
import { connect, readSnapshot, unknownAgent } from "../operator/connect.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import { moment, wholeNumber } from "../options.ts";

interface HistoryOptions {
  readonly deadLetter?: true;
  readonly agent?: string;
  readonly kind?: TriggerKind;
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
    .option("-a, --agent <agent>", "only this agent")
    .choice("--kind <kind>", "only what this triggered", triggerKinds)
    .choice("--outcome <outcome>", "only what ended like this", outcomes)
    .option("--since <when>", "only what arrived since then: 10m, 2h, 3d, or a date-time", moment)
    .option("-n, --lines <n>", "how many entries", wholeNumber(1, 200), 20)
    .examples(
      "al history",
      "al history --dead-letter --agent triage -n 50",
      "al history --kind cron --outcome failed --since 3d",
    )
    .action((options: HistoryOptions, command: AlCommand) => history(contextOf(command), options));
}

async function history(context: Context, options: HistoryOptions): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const page = (await client.get(`/api/stats/triggers?${queryOf(options)}`)) as HistoryPage;
  if (page.triggers.length === 0) await refuseUnknown(client, options);
  if (out.json) return out.document(page);
  if (page.triggers.length === 0) return out.note(nothing(options));
  const { renderHistory } = await import("../status/render-history.ts");
  out.data(renderHistory(page.triggers, { ...out, now: Date.now() }));
}

function queryOf({ lines, deadLetter, agent, kind, outcome, since }: HistoryOptions): string {
  const query = new URLSearchParams({ limit: String(lines) });
  if (deadLetter) query.set("deadLetter", "true");
  if (agent !== undefined) query.set("agent", agent);
  if (kind !== undefined) query.set("kind", kind);
  if (outcome !== undefined) query.set("outcome", outcome);
  // There is an earliest date, and no history is older than 1970.
  if (since !== undefined) query.set("since", new Date(Math.max(0, since)).toISOString());
  return query.toString();
}

/** An agent that is gone may have a history; one without either was never there. */
async function refuseUnknown(client: Client, { agent }: HistoryOptions): Promise<void> {
  if (agent === undefined) return;
  const known = (await readSnapshot(client)).agents.map(({ name }) => name);
  if (!known.includes(agent)) throw unknownAgent(agent, known);
}

function nothing({ agent, deadLetter, kind, outcome, since }: HistoryOptions): string {
  const isFiltered = [kind, outcome, since].some((filter) => filter !== undefined);
  if (isFiltered) return "nothing in the history meets these filters";
  const whose = agent === undefined ? "" : ` of ${agent}`;
  return deadLetter ? `no dead letters${whose}` : `nothing${whose} was triggered yet`;
}
