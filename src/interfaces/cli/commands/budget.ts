import { maxRaiseUsd } from "../../../foundation/contracts/spend-options.ts";
import { UserError } from "../../../foundation/errors.ts";
import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

/** `al budget raise <scope> <usd>` */
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
    .argument("<scope>", '"project", an agent\'s name, or the instance id of one run')
    .argument("<usd>", "what is added, in USD")
    .examples(
      "al budget raise project 20",
      "al budget raise triage 5",
      "al budget raise triage-k3v9q2xa 0.5",
    )
    .action(async (scope: string, usd: string, _options: unknown, command: AlCommand) => {
      const amount = amountOf(usd);
      const { raiseBudget } = await import("../operator/raise-budget.ts");
      await raiseBudget(contextOf(command), scope, amount);
    });
}

function amountOf(text: string): number {
  const usd = Number(text.replace(/^\$/, ""));
  if (usd > 0 && usd <= maxRaiseUsd) return usd;
  const hint = `expected an amount of USD above 0, up to ${maxRaiseUsd}, such as 5 or 0.50`;
  throw new UserError("usage", `${text} is not an amount`, { hint, exitCode: 2 });
}
