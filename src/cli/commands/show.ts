import { UserError } from "../../errors.ts";
import { askProject } from "../operator/reader.ts";
import type { ProjectReader } from "../operator/project-reader.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

interface ShowOptions {
  /** True without a value. */
  readonly diff?: string | true;
}

/** `al show <instance>` */
export function showCommand(): AlCommand {
  return new AlCommand("show")
    .description("show one run, or what changed in what it ran since another one")
    .argument("<instance>", "the instance id of a run, as al history names it")
    .option(
      "--diff [instance]",
      "what changed in config and instructions since that run; without one since the last that succeeded",
    )
    .examples(
      "al show triage-k3v9q2xa",
      "al show triage-k3v9q2xa --diff",
      "al show triage-k3v9q2xa --diff triage-b7w2m5ra",
    )
    .action((instanceId: string, options: ShowOptions, command: AlCommand) => {
      const { diff } = options;
      const context = contextOf(command);
      if (diff === undefined) return showRun(context, instanceId);
      return showDifference(context, instanceId, diff === true ? null : diff);
    });
}

async function showRun(context: Context, instanceId: string): Promise<void> {
  const { out } = context;
  const run = await ask(context, (reader) => reader.run(instanceId));
  if (out.json) return out.document(run);
  const { renderRun } = await import("../status/render-run.ts");
  out.data(renderRun(run, { colors: out.colors, columns: out.columns, now: Date.now() }));
}

async function showDifference(
  context: Context,
  instanceId: string,
  other: string | null,
): Promise<void> {
  const { out } = context;
  const difference = await ask(context, (reader) => reader.runDifference(instanceId, other));
  if (out.json) return out.document(difference);
  const { differenceNote, renderDifference } = await import("../status/render-difference.ts");
  out.note(differenceNote(difference));
  if (difference.changed) out.data(renderDifference(difference.text, out.colors));
}

/** The answer; the error of a run that is not there names where runs are found. */
function ask<T>(context: Context, question: (reader: ProjectReader) => Promise<T>): Promise<T> {
  return askProject(context, question).catch((error: unknown) => {
    if (!(error instanceof UserError) || error.code !== "unknown_instance") throw error;
    const hint = "al history lists the runs with their instance ids";
    throw new UserError(error.code, error.message, { hint, cause: error });
  });
}
