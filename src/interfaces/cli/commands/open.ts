import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

/** `al open` */
export function openCommand(): AlCommand {
  return new AlCommand("open")
    .description("open the dashboard in the browser, logged in")
    .option("--print", "print the link instead, which logs in once, within 10 minutes")
    .examples("al open", "al open --print", "ssh server al open --print -p my-project")
    .exitCodes({ 1: "no scheduler is running, or it runs without the dashboard" })
    .action(async ({ print }: { print?: true }, command: AlCommand) => {
      const { openDashboard } = await import("../operator/open-dashboard.ts");
      await openDashboard(contextOf(command), print === true);
    });
}
