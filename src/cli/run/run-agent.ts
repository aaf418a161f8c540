import { connect, isNotRunning } from "../operator/connect.ts";
import type { Context } from "../context.ts";
import { followRun } from "./follow-run.ts";
import { tellOnInterrupt } from "./tell-on-interrupt.ts";

/** Runs an agent through the live scheduler, or without one in this process; the exit code is the run's. */
export async function runAgent(
  context: Context,
  agent: string,
  prompt: string | null,
): Promise<number> {
  const client = await connect(context).catch((error: unknown) => {
    if (isNotRunning(error)) return null;
    throw error;
  });
  if (client !== null) {
    const seen = tellOnInterrupt(context.out, agent);
    return followRun(context, client, { agent, prompt, seen });
  }
  const { runAlone } = await import("./run-alone.ts");
  return runAlone(context, agent, prompt);
}
