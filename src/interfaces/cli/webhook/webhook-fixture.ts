import type { WebhookSource, ProjectConfig } from "../../../foundation/config/project-config.ts";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Problem, usageError, failureOf } from "../../../foundation/errors.ts";
import type { Fixture } from "../../../features/webhooks/sign.ts";
import { meantOr } from "../../../foundation/contracts/did-you-mean.ts";
import { loadProject } from "../../../runtime/agents/project-files.ts";
import type { Context } from "../context.ts";

export interface FixtureOptions {
  readonly source?: string;
  readonly event?: string;
}

/** The project on disk, and the webhook source of a fixture. Throws a Problem for an invalid config. */
export async function sourceFor({ projectDir }: Context, options: FixtureOptions) {
  const project = await loadProject(projectDir);
  return { project, source: chosenSource(project.webhooks, options.source) };
}

/** The named source, or the only one. */
export function chosenSource(
  webhooks: ProjectConfig["webhooks"],
  name: string | undefined,
): WebhookSource {
  const sources = Object.values(webhooks);
  const [only] = sources;
  if (only === undefined) {
    throw new Problem(
      "no_source",
      "the project has no webhook source",
      'Add one to config.toml, such as [webhooks.github] with type = "github".',
    );
  }
  const names = sources.map((source) => source.name);
  if (name === undefined && sources.length === 1) return only;
  if (name === undefined) {
    throw usageError(
      "the project has several webhook sources",
      `Name one with --source: ${names.join(", ")}.`,
    );
  }
  const found = sources.find((source) => source.name === name);
  if (found !== undefined) return found;
  const hint = meantOr(name, names, `The sources are ${names.join(", ")}.`);
  throw new Problem("unknown_source", `there is no webhook source "${name}"`, hint);
}

/** The fixture's bytes as they are. `path` is relative to the working directory. */
export async function readFixtureFile(path: string, { event }: FixtureOptions): Promise<Fixture> {
  try {
    return { path, body: await readFile(resolve(path)), event: event ?? null };
  } catch (error) {
    throw failureOf(
      "unreadable_fixture",
      `${path} can't be read`,
      error,
      "Name a file with a payload as the provider sends it.",
    );
  }
}
