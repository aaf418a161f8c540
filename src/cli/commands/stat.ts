import { connect, readSnapshot } from "../operator/connect.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

/** `al stat`, `al status` */
export function statCommand(): AlCommand {
  return new AlCommand("stat")
    .alias("status")
    .description("show the scheduler and its agents")
    .examples("al stat", "al stat -p ~/my-project --json")
    .action((_options: unknown, command: AlCommand) => stat(contextOf(command)));
}

async function stat(context: Context): Promise<void> {
  const { out } = context;
  const snapshot = await readSnapshot(await connect(context));
  if (out.json) return out.document(snapshot);
  const { renderStatus } = await import("../status/render-status.ts");
  out.data(renderStatus(snapshot, { ...out, now: Date.now() }));
}
