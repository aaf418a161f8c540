import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../operator/connect.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

interface StopOptions {
  readonly now?: boolean;
}

/** `al stop` */
export function stopCommand(): AlCommand {
  return new AlCommand("stop")
    .description("stop the scheduler: no new runs, running ones get their grace period")
    .option("--now", "kill running runs instead of waiting for them, as a second Ctrl-C does")
    .examples("al stop", "al stop --now")
    .action((options: StopOptions, command: AlCommand) => stop(contextOf(command), options));
}

async function stop(context: Context, { now = false }: StopOptions): Promise<void> {
  const { out, projectDir } = context;
  const { readSchedulerInfo } = await import("../../../foundation/store/project-lock.ts");
  const pidOf = () => readSchedulerInfo(projectDir)?.pid;
  const client = await connect(context);
  const pid = pidOf();
  const answer = (await client.post("/control/stop", { now })) as { readonly running: number };
  if (answer.running > 0) out.note(await whatRuns(answer.running, now));
  // Another pid is the next scheduler already.
  while (pid !== undefined && pidOf() === pid) await sleep(100);
  if (out.json) return out.document(answer);
  out.data("stopped");
}

async function whatRuns(running: number, now: boolean): Promise<string> {
  const { counted } = await import("../../../foundation/contracts/format.ts");
  const runs = counted(running, "run");
  if (now) return `stopping: ${runs} ended …`;
  return `stopping: ${runs} may finish within the grace period; al stop --now does not wait …`;
}
