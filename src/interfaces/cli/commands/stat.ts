import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import type { StoredStatus } from "../../../foundation/contracts/stored-status.ts";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { UserError } from "../../../foundation/errors.ts";
import { meantOr } from "../../../foundation/contracts/did-you-mean.ts";
import { askProject } from "../operator/reader.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

/** `al stat`, `al status` */
export function statCommand(): AlCommand {
  return new AlCommand("stat")
    .alias("status")
    .description("show the scheduler and its agents")
    .option("--tag <tag>", "only agents with this tag")
    .examples("al stat", "al stat --tag web", "al stat -p ~/my-project --json")
    .action((options: StatOptions, command: AlCommand) => stat(options, contextOf(command)));
}

interface StatOptions {
  readonly tag?: string;
}

async function stat({ tag }: StatOptions, context: Context): Promise<void> {
  const { out } = context;
  const all = await askProject(context, (reader) => reader.status());
  const status = tag === undefined ? all : { ...all, agents: tagged(all.agents, tag) };
  if (out.json) return out.document(status);
  const { renderStatus, renderStoredStatus } = await import("../status/render-status.ts");
  const style = { ...out, now: Date.now() };
  out.data(isStored(status) ? renderStoredStatus(status, style) : renderStatus(status, style));
}

function tagged(agents: readonly AgentStatus[], tag: string): readonly AgentStatus[] {
  const found = agents.filter(({ tags }) => tags.includes(tag));
  if (found.length > 0) return found;
  const known = [...new Set(agents.flatMap(({ tags }) => tags))].sort();
  const list = known.length === 0 ? "no agent has tags yet" : `tags: ${known.join(", ")}`;
  throw new UserError("unknown_tag", `no agent has the tag "${tag}"`, {
    hint: meantOr(tag, known, list),
  });
}

function isStored(status: StatusSnapshot | StoredStatus): status is StoredStatus {
  return status.scheduler === null;
}
