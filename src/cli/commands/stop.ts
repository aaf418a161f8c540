import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { connect } from "../connect.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";

/** `al stop` */
export function stopCommand(): Command {
  return new Command("stop")
    .description("stop the scheduler: no new runs, running ones get their grace period")
    .addHelpText("after", examples(["al stop"]))
    .action((_options: unknown, command: Command) => stop(contextOf(command)));
}

async function stop(context: Context): Promise<void> {
  const { out, projectDir } = context;
  const { readSchedulerInfo } = await import("../../store/project-lock.ts");
  const pidOf = () => readSchedulerInfo(projectDir)?.pid;
  const client = await connect(context);
  const pid = pidOf();
  const answer = await client.post("/control/stop");
  out.note("stopping: running runs may finish within their grace period …");
  // Another pid is the next scheduler already.
  while (pid !== undefined && pidOf() === pid) await sleep(100);
  if (out.json) return out.document(answer);
  out.data("stopped");
}
