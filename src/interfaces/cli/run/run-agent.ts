import { connect, isNotRunning } from "../operator/connect.ts";
import type { Context } from "../context.ts";
import { followRun, triggerRun, type WantedRun } from "./follow-run.ts";
import type { Output } from "../terminal/output.ts";

/**
 * Runs an agent through the live scheduler, or without one in this process; the exit code is the run's. `detach` only
 * triggers it, which needs a scheduler.
 */
export async function runAgent(
  context: Context,
  agent: string,
  options: { readonly prompt?: string; readonly detach?: true },
): Promise<number> {
  const { prompt = null, detach = false } = options;
  const client = await connect(context).catch((error: unknown) => {
    if (isNotRunning(error) && !detach) return null;
    throw error;
  });
  if (client !== null && detach) {
    const answer = await triggerRun(client, { agent, prompt });
    context.out.answer(answer, answer.instanceId ?? answer.triggerId);
    if (!context.out.json) context.out.note(whatContinues(agent, answer.instanceId));
    return 0;
  }
  if (client !== null) {
    const seen = noteOnInterrupt(context.out, agent);
    return followRun(context, client, { agent, prompt, seen });
  }
  const { runAlone } = await import("./run-alone.ts");
  return runAlone(context, agent, prompt);
}

/** Prints on Ctrl-C, which still ends the command, that the run continues in the scheduler. */
function noteOnInterrupt(out: Output, agent: string): NonNullable<WantedRun["seen"]> {
  let last = "";
  process.once("SIGINT", () => {
    if (last !== "") out.note(last);
    // Without a listener it ends this process.
    process.kill(process.pid, "SIGINT");
  });
  return (instanceId) => void (last = whatContinues(agent, instanceId));
}

function whatContinues(agent: string, instanceId: string | null): string {
  if (instanceId === null) {
    return `Queued. Track it with \`al history -a ${agent}\`.`;
  }
  const [follow, kill] = [`al logs ${agent} -i ${instanceId} -f`, `al kill ${instanceId}`];
  return `The run continues in the scheduler. Follow it with \`${follow}\`, or end it with \`${kill}\`.`;
}
