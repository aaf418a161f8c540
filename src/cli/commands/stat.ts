import type { StatusSnapshot } from "../../../streams/status/wire.ts";
import type { StoredStatus } from "../../contracts/stored-status.ts";
import { askProject } from "../operator/reader.ts";
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
  const status = await askProject(context, (reader) => reader.status());
  if (out.json) return out.document(status);
  const { renderStatus, renderStoredStatus } = await import("../status/render-status.ts");
  const style = { ...out, now: Date.now() };
  out.data(isStored(status) ? renderStoredStatus(status, style) : renderStatus(status, style));
}

function isStored(status: StatusSnapshot | StoredStatus): status is StoredStatus {
  return status.scheduler === null;
}
