import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

/** `al run <agent>` */
export function runCommand(): AlCommand {
  return new AlCommand("run")
    .description("run an agent now and follow it; the exit code is the run's")
    .argument("<agent>", "the agent to run")
    .option("--prompt <text>", "what to tell the agent")
    .examples("al run triage", "al run triage --prompt 'only issue 42'")
    .exitCodes({
      0: "the run succeeded",
      1: "it failed; a run that ends with a code of its own gives that one",
      124: "it reached its timeout",
      130: "interrupted",
      125: "it was refused a call to its model, as its budget is used up",
      137: "it was killed, or ran out of memory",
      143: "the scheduler was stopped while it ran; its work is tried once more at the next start",
    })
    .action(async (agent: string, options: { prompt?: string }, command: AlCommand) => {
      const { runAgent } = await import("../run/run-agent.ts");
      process.exitCode = await runAgent(contextOf(command), agent, options.prompt ?? null);
    });
}
