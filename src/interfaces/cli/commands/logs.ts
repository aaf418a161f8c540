import { outcomes } from "../../../../streams/vocabulary.ts";
import { searchKinds } from "../../../foundation/contracts/search-kinds.ts";
import { UserError } from "../../../foundation/errors.ts";
import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import { moment, wholeNumber } from "../options.ts";
import type { GrepOptions } from "../logs/grep-logs.ts";

interface Options extends Omit<GrepOptions, "grep"> {
  readonly agent?: string;
  readonly grep?: string;
}

/** `al logs [agent]` */
export function logsCommand(): AlCommand {
  return new AlCommand("logs")
    .description("show the log of an agent, or of all")
    .argument("[agent]", 'an agent, or "scheduler"')
    .option("-f, --follow", "print new lines as they come, until Ctrl-C")
    .option(
      "-n, --lines <n>",
      "how many of the last lines to begin with (default: 100); of --grep, how many runs (20)",
      wholeNumber(0, 10_000),
    )
    .option("-i, --instance <instance>", "only this run")
    .option("--since <when>", "only lines since then: 10m, 2h, 3d, or a date-time", moment)
    .option("-a, --agent <agent>", "the same as the argument")
    .option("-g, --grep <words>", 'only runs with lines that have all words, "phrases" and begin*')
    .choice("--outcome <outcome>", "with --grep: only runs that ended like this", outcomes)
    .choice("--kind <kind>", "with --grep: only lines of this kind", searchKinds)
    .option("--oldest", "with --grep: the run with the first such line first")
    .examples(
      "al logs -f",
      "al logs triage --since 10m",
      "al logs triage -i triage-k3v9q2xa --json",
      "al logs --grep 'connect timeout' --since 7d",
      "al logs --grep '\"out of memory\"' --kind error --oldest -n 1",
    )
    .action(async (argument: string | undefined, options: Options, command: AlCommand) => {
      const context = contextOf(command);
      const agent = argument ?? options.agent ?? null;
      const { grep } = options;
      if (grep !== undefined) {
        const { grepLogs } = await import("../logs/grep-logs.ts");
        return grepLogs(context, agent, { ...options, grep });
      }
      mustHaveGrep(options);
      const { followLogs, showLogs } = await import("../logs/show-logs.ts");
      return (options.follow ? followLogs : showLogs)(context, agent, options);
    });
}

function mustHaveGrep({ outcome, kind, oldest }: Options): void {
  if (outcome === undefined && kind === undefined && oldest === undefined) return;
  throw new UserError("usage", "--outcome, --kind and --oldest need --grep", {
    hint: "add --grep <words>",
    exitCode: 2,
  });
}
