import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import { moment, wholeNumber } from "../options.ts";
import type { LogsOptions } from "../logs/show-logs.ts";

/** `al logs [agent]` */
export function logsCommand(): AlCommand {
  return new AlCommand("logs")
    .description("show the log of an agent, or of all")
    .argument("[agent]", 'an agent, or "scheduler"')
    .option("-f, --follow", "print new lines as they come, until Ctrl-C")
    .option(
      "-n, --lines <n>",
      "how many of the last lines to begin with (default: 100)",
      wholeNumber(0, 10_000),
    )
    .option("-i, --instance <id>", "only this run")
    .option("--since <when>", "only lines since then: 10m, 2h, 3d, or a date-time", moment)
    .examples(
      "al logs -f",
      "al logs triage --since 10m",
      "al logs triage -i triage-k3v9q2xa --json",
    )
    .action(async (agent: string | undefined, options: LogsOptions, command: AlCommand) => {
      const { followLogs, showLogs } = await import("../logs/show-logs.ts");
      const context = contextOf(command);
      await (options.follow ? followLogs : showLogs)(context, agent ?? null, options);
    });
}
