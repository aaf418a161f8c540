import { UserError } from "../../../foundation/errors.ts";
import { askProject } from "../operator/reader.ts";
import type { ProjectReader } from "../operator/project-reader.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

interface ShowOptions {
  /** True without a value. */
  readonly diff?: string | true;
}

/** `al show <run>` */
export function showCommand(): AlCommand {
  return new AlCommand("show")
    .description("show one run, or what changed in what it ran since another one")
    .argument(
      "<run>",
      "the instance id of a run, as al history shows it; or an agent: its latest run",
    )
    .option(
      "--diff [instance]",
      "what changed in config and instructions since that run; without one since the last that succeeded",
    )
    .examples(
      "al show triage-k3v9q2xa",
      "al show triage",
      "al show triage-k3v9q2xa --diff",
      "al show triage-k3v9q2xa --diff triage-b7w2m5ra",
    )
    .action((run: string, options: ShowOptions, command: AlCommand) => {
      const { diff } = options;
      const context = contextOf(command);
      if (diff === undefined) return showRun(context, run);
      return showDifference(context, run, diff === true ? null : diff);
    });
}

async function showRun(context: Context, name: string): Promise<void> {
  const { out } = context;
  const run = await ask(context, name, (reader, instanceId) => reader.run(instanceId));
  if (out.json) return out.document(run);
  const { renderRun } = await import("../status/render-run.ts");
  out.data(renderRun(run, { colors: out.colors, columns: out.columns, now: Date.now() }));
}

async function showDifference(context: Context, name: string, other: string | null): Promise<void> {
  const { out } = context;
  const difference = await ask(context, name, (reader, instanceId) =>
    reader.runDifference(instanceId, other),
  );
  if (out.json) return out.document(difference);
  const { differenceNote, renderDifference } = await import("../status/render-difference.ts");
  out.note(differenceNote(difference));
  if (difference.changed) out.data(renderDifference(difference.text, out.colors));
}

type Question<T> = (reader: ProjectReader, instanceId: string) => Promise<T>;

/** The answer for the run of that name, or else for the latest run of the agent of that name. */
function ask<T>(context: Context, name: string, question: Question<T>): Promise<T> {
  return askProject(context, async (reader) => {
    try {
      return await question(reader, name);
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== "unknown_instance") throw error;
      const latest = await latestRun(reader, name);
      if (latest !== null && latest !== name) return question(reader, latest);
      const hint = "al history lists the runs with their instance ids";
      throw new UserError(error.code, error.message, { hint, cause: error });
    }
  });
}

/** Null for no agent, or for one that has never run. */
async function latestRun(reader: ProjectReader, agent: string): Promise<string | null> {
  const { triggers } = await reader.history({ agent, limit: 200 });
  return triggers.find(({ instanceId }) => instanceId !== null)?.instanceId ?? null;
}
