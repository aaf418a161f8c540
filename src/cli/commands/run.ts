import { Command } from "commander";
import { contextOf } from "../context.ts";
import { examples } from "../help/examples.ts";
import { exitCodes } from "../help/exit-codes.ts";

/** `al run <agent>` */
export function runCommand(): Command {
  return new Command("run")
    .description("run an agent now and follow it; the exit code is the run's")
    .argument("<agent>", "the agent to run")
    .option("--prompt <text>", "what to tell the agent")
    .addHelpText("after", examples(["al run triage", "al run triage --prompt 'only issue 42'"]))
    .addHelpText(
      "after",
      exitCodes({
        0: "the run succeeded",
        1: "it failed; or what its process gave",
        124: "it reached its timeout",
        130: "interrupted",
        137: "it was killed, or ran out of memory",
        143: "the scheduler was stopped while it ran; its work is tried once more at the next start",
      }),
    )
    .action(async (agent: string, options: { prompt?: string }, command: Command) => {
      const { runAgent } = await import("../run/run-agent.ts");
      process.exitCode = await runAgent(contextOf(command), agent, options.prompt ?? null);
    });
}
