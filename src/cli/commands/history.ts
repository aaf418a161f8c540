import { Command } from "commander";
import type { HistoryPage } from "../../contracts/history.ts";
import type { Client } from "../client.ts";
import { connect, readSnapshot, unknownAgent } from "../connect.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { wholeNumber } from "../options.ts";

interface HistoryOptions {
  readonly deadLetter?: true;
  readonly agent?: string;
  readonly lines: number;
}

/** `al history [--dead-letter]` */
export function historyCommand(): Command {
  return new Command("history")
    .description("show what was triggered and how it ended, newest first")
    .option("--dead-letter", "only what never ran: dropped, refused or unmatched")
    .option("-a, --agent <agent>", "only this agent")
    .option("-n, --lines <n>", "how many entries", wholeNumber(1, 200), 20)
    .addHelpText("after", examples(["al history", "al history --dead-letter --agent triage -n 50"]))
    .action((options: HistoryOptions, command: Command) => history(contextOf(command), options));
}

async function history(context: Context, options: HistoryOptions): Promise<void> {
  const { out } = context;
  const query = new URLSearchParams({ limit: String(options.lines) });
  if (options.deadLetter) query.set("deadLetter", "true");
  if (options.agent !== undefined) query.set("agent", options.agent);
  const client = await connect(context);
  const page = (await client.get(`/api/stats/triggers?${query.toString()}`)) as HistoryPage;
  if (page.triggers.length === 0) await refuseUnknown(client, options);
  if (out.json) return out.document(page);
  if (page.triggers.length === 0) return out.note(nothing(options));
  const { renderHistory } = await import("../render-history.ts");
  out.data(renderHistory(page.triggers, { ...out, now: Date.now() }));
}

/** An agent that is gone may have a history; one without either was never there. */
async function refuseUnknown(client: Client, { agent }: HistoryOptions): Promise<void> {
  if (agent === undefined) return;
  const known = (await readSnapshot(client)).agents.map(({ name }) => name);
  if (!known.includes(agent)) throw unknownAgent(agent, known);
}

function nothing({ agent, deadLetter }: HistoryOptions): string {
  const whose = agent === undefined ? "" : ` of ${agent}`;
  return deadLetter ? `no dead letters${whose}` : `nothing${whose} was triggered yet`;
}
