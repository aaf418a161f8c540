import { deliveryStates } from "../../../foundation/contracts/alert.ts";
import { UserError } from "../../../foundation/errors.ts";
import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import type { ListOptions } from "../operator/alerts.ts";
import { wholeNumber } from "../options.ts";

/** `al alerts [list]|test|retry` */
export function alertsCommand(): AlCommand {
  return new AlCommand("alerts")
    .description("show what is wrong now and which alerts arrived; send a test, or one again")
    .examples("al alerts", "al alerts test ops", "al alerts retry --all")
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(testCommand())
    .addCommand(retryCommand());
}

function listCommand(): AlCommand {
  return new AlCommand("list")
    .description(
      "the default: what is wrong now, how each target does, and the alerts, newest first",
    )
    .choice("--state <state>", "only alerts in this state", deliveryStates)
    .option("--target <target>", "only alerts to this target")
    .option("-n, --lines <n>", "how many alerts", wholeNumber(1, 200), 20)
    .examples("al alerts", "al alerts list --state dead", "al alerts list --target ops -n 100")
    .action(async (options: ListOptions, command: AlCommand) => {
      const { listAlerts } = await import("../operator/alerts.ts");
      await listAlerts(contextOf(command), options);
    });
}

function testCommand(): AlCommand {
  return new AlCommand("test")
    .description(
      "send a test to a target, now; one that was switched off is on again if it accepts",
    )
    .argument("<target>", "name of a target, [alerts.<name>] in config.toml")
    .examples("al alerts test ops")
    .exitCodes({ 0: "the target accepted it", 1: "it did not; the reason is printed" })
    .action(async (target: string, _options: unknown, command: AlCommand) => {
      const { testTarget } = await import("../operator/alerts.ts");
      await testTarget(contextOf(command), target);
    });
}

interface RetryOptions {
  readonly all?: true;
}

function retryCommand(): AlCommand {
  return new AlCommand("retry")
    .description("send an alert again that was given up, or one that waits now")
    .argument("[id]", "its id, as al alerts names it")
    .option("--all", "all that were given up")
    .examples("al alerts retry 0198c0de-7a11-4000-8000-5ec0ffee0001", "al alerts retry --all")
    .action(async (id: string | undefined, { all }: RetryOptions, command: AlCommand) => {
      if ((id === undefined) === (all === undefined)) throw eitherOr();
      const { retryAlert, retryAllAlerts } = await import("../operator/alerts.ts");
      const context = contextOf(command);
      await (id === undefined ? retryAllAlerts(context) : retryAlert(context, id));
    });
}

function eitherOr(): UserError {
  const hint = "al alerts list --state dead names those that were given up";
  return new UserError("usage", "expected the id of an alert, or --all", { hint, exitCode: 2 });
}
