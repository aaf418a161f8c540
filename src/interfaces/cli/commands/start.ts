import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import { wholeNumber } from "../options.ts";
import type { StartOptions } from "../start/run-scheduler.ts";

/** `al start` */
export function startCommand(): AlCommand {
  return new AlCommand("start")
    .description("run the project's agents until it is stopped")
    .option("-w, --web-ui", "serve the dashboard")
    .option(
      "-H, --headless",
      "print log lines instead of the live view; the default when the output is no terminal",
    )
    .option("--port <n>", "TCP port instead of [gateway].port; 0 for any", wholeNumber(0, 65_535))
    .option("--host <address>", "address to listen on instead of [gateway].host")
    .option(
      "--grace <s>",
      "seconds that running runs get when it stops",
      wholeNumber(0, 86_400),
      30,
    )
    .option(
      "--print-systemd",
      "start nothing; print a systemd unit that does it with these options",
    )
    .examples(
      "al start --web-ui",
      "al start -p ~/my-project --port 9000 --grace 120",
      "al start --web-ui --print-systemd > almanac.service",
    )
    .exitCodes({
      0: "stopped by al stop, Ctrl-C or a signal",
      1: "the project can't be started, or the scheduler broke",
      130: "Ctrl-C twice: stopped without waiting",
    })
    .action(async (options: StartOptions & { printSystemd?: true }, command: AlCommand) => {
      if (options.printSystemd) {
        const { printUnit } = await import("../systemd/print-unit.ts");
        return printUnit(contextOf(command), options);
      }
      const { runScheduler } = await import("../start/run-scheduler.ts");
      process.exitCode = await runScheduler(contextOf(command), options);
    });
}
