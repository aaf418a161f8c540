import { spendKeys } from "../../../foundation/contracts/spend-options.ts";
import type { SpendKey } from "../../../foundation/contracts/spend-options.ts";
import type { SpendRequest } from "../../../foundation/contracts/spend-report.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import { askProject, mustKnowAgent } from "../operator/reader.ts";
import { isoTime, moment } from "../options.ts";

interface CostOptions {
  readonly by: SpendKey;
  /** Epoch ms. */
  readonly since?: number;
}

/** `al cost [agent]` */
export function costCommand(): AlCommand {
  return new AlCommand("cost")
    .description("show what runs spent on models, the limits, and what a month will cost")
    .argument("[agent]", "only this agent")
    .option(
      "--since <when>",
      "calls from then on: 12h, 7d, or a date-time (default: 30 days)",
      moment,
    )
    .choice("--by <what>", "add up by this (default: agent; of one agent: day)", spendKeys)
    .examples("al cost", "al cost --by model --since 7d", "al cost triage --by day")
    .action((agent: string | undefined, options: Partial<CostOptions>, command: AlCommand) => {
      const by = options.by ?? (agent === undefined ? "agent" : "day");
      return cost(contextOf(command), agent ?? null, { ...options, by });
    });
}

async function cost(context: Context, agent: string | null, options: CostOptions): Promise<void> {
  const { out } = context;
  const answer = await askProject(context, async (reader) => {
    const spent = await reader.spend(queryOf(agent, options));
    if (agent !== null && spent.rows.length === 0) await mustKnowAgent(reader, agent);
    return spent;
  });
  if (out.json) return out.document(answer);
  const { renderCost } = await import("../status/render-cost.ts");
  const text = renderCost(answer, options.by, out);
  if (text !== "") out.data(text);
  if (answer.rows.length > 0) return;
  const whose = agent === null ? "no run" : `no run of ${agent}`;
  out.note(
    `${whose} asked a model${options.since === undefined ? " in the last 30 days" : " since then"}`,
  );
}

function queryOf(agent: string | null, { by, since }: CostOptions): SpendRequest {
  return { by, since: since === undefined ? undefined : isoTime(since), agent: agent ?? undefined };
}
