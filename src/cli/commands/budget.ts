import { agentScope, projectScope, runScope } from "../../../streams/spend/budget.ts";
import { nanoOfUsd, usdText } from "../../../streams/spend/money.ts";
import type { BudgetRaised, SpendLimit } from "../../contracts/spend-report.ts";
import { maxRaiseUsd } from "../../contracts/spend-report.ts";
import { UserError } from "../../errors.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import { connect, readSnapshot, unknownAgent } from "../operator/connect.ts";

/** `al budget raise <target> <usd>` */
export function budgetCommand(): AlCommand {
  return new AlCommand("budget")
    .description("raise what may be spent on models")
    .examples("al budget raise triage 5")
    .addCommand(raiseCommand());
}

function raiseCommand(): AlCommand {
  return new AlCommand("raise")
    .description(
      "add to the limits of the project, an agent or one run until the day or month turns",
    )
    .argument("<target>", '"project", an agent\'s name, or the instance id of one run')
    .argument("<usd>", "what is added, in USD")
    .examples(
      "al budget raise project 20",
      "al budget raise triage 5",
      "al budget raise triage-k3v9q2xa 0.5",
    )
    .action((target: string, usd: string, _options: unknown, command: AlCommand) =>
      raise(contextOf(command), target, amountOf(usd)),
    );
}

function amountOf(text: string): number {
  const usd = Number(text.replace(/^\$/, ""));
  if (usd > 0 && usd <= maxRaiseUsd) return usd;
  const hint = `expected an amount of USD above 0, up to ${maxRaiseUsd}, such as 5 or 0.50`;
  throw new UserError("usage", `${text} is not an amount`, { hint, exitCode: 2 });
}

async function raise(context: Context, target: string, usd: number): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const names = (await readSnapshot(client)).agents.map(({ name }) => name);
  const scope = scopeOf(target, names);
  const path = `/api/budgets/${encodeURIComponent(scope)}/raise`;
  const answer = (await client.post(path, { usd })) as BudgetRaised;
  if (out.json) return out.document(answer);
  out.data(`the budget of ${target} is raised by ${usdText(nanoOfUsd(usd))}`);
  for (const line of answer.limits.flatMap(limitLine)) out.data(line);
}

/** A scope may be written as the API has it, too. */
function scopeOf(target: string, agents: readonly string[]): string {
  if ([projectScope, agentScope, runScope].some((scope) => isScope(target, scope))) return target;
  if (agents.includes(target)) return agentScope(target);
  const agent = /^(.+)-[a-z0-9]{8}$/i.exec(target)?.[1];
  if (agent !== undefined && agents.includes(agent)) return runScope(target);
  throw unknownAgent(target, agents);
}

function isScope(target: string, scope: string | ((name: string) => string)): boolean {
  return typeof scope === "string" ? target === scope : target.startsWith(scope(""));
}

/** `2026-11-22  $0.50 of $7.00`; none for a window without a limit. */
function limitLine({ window, usd, limit }: SpendLimit): readonly string[] {
  if (limit === null) return [];
  return [`${window}  ${usdText(nanoOfUsd(usd))} of ${usdText(nanoOfUsd(limit))}`];
}
