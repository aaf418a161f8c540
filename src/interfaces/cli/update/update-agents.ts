import { existsSync } from "node:fs";
import { join } from "node:path";
import { listAgents } from "../../../foundation/config/agent-files.ts";
import { Problem } from "../../../foundation/errors.ts";
import type { FileChange } from "../../../features/skills/compare-files.ts";
import type { Context } from "../context.ts";
import { interrupted } from "../stop-signals.ts";
import { missingFlag, openPrompts, type Prompts } from "../terminal/prompts.ts";
import { agentSource } from "./agent-source.ts";
import { applyUpdate, localChanges, prepareMerge } from "./apply-update.ts";
import { planUpdate, type UpdatePlan } from "./plan-update.ts";
import { fetchRepository } from "../../../features/skills/fetch-repository.ts";
import type { FetchedRepository } from "../../../features/skills/fetch-repository.ts";
import { reviewOf, warningLines } from "../add/review.ts";
import { renderDifference } from "../status/render-run.ts";
import { errorText, plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";

export interface UpdateOptions {
  readonly yes?: true;
  readonly check?: true;
  readonly keepLocal?: true;
}

/** The outcome of one agent. */
interface Updated {
  readonly agent: string;
  /** The source in its config. */
  readonly source: string | null;
  /** Commits in hex, null if unknown. */
  readonly from: string | null;
  readonly to: string | null;
  /** `available` with --check; `refused` for local changes; `declined` by the person. */
  readonly status: "current" | "updated" | "available" | "refused" | "declined" | "failed";
  readonly changes: readonly FileChange[];
  readonly diff: string | null;
  /** The reason and the hint of a refusal or a failure. */
  readonly message: string | null;
  readonly hint: string | null;
}

/** Updates one agent, or all that were added, to the newest version of their sources; the exit code. */
export async function updateAgents(
  context: Context,
  agent: string | undefined,
  options: UpdateOptions,
): Promise<number> {
  const { out, projectDir } = context;
  const fetches = openFetches(context.env, interrupted());
  const prompts = await openPrompts(context);
  const updates: Updated[] = [];
  try {
    for (const name of agent === undefined ? await agentsWithConfig(projectDir) : [agent]) {
      const updated = await updateAgent(context, name, fetches, prompts, options).catch(
        (error: unknown) => failed(name, error),
      );
      if (updated === null && agent !== undefined) throw noSource(agent);
      if (updated !== null) updates.push(updated);
      if (updated !== null && !out.json) print(context, updated);
    }
  } finally {
    await fetches.remove();
  }
  if (out.json) out.document({ updates });
  else if (updates.length === 0) out.note("no agent has a source to update from");
  const isWell = ({ status }: Updated) => ["current", "updated", "available"].includes(status);
  return updates.every(isWell) ? 0 : 1;
}

/** Directories without a config were not added from anywhere. */
async function agentsWithConfig(projectDir: string): Promise<readonly string[]> {
  const { names } = await listAgents(projectDir);
  return names.filter((name) => existsSync(join(projectDir, "agents", name, "config.toml")));
}

function noSource(agent: string): Problem {
  return new Problem(
    "no_source",
    `agent ${agent} has no source to update from`,
    `Set one with \`al config ${agent} --set source=<repo>\`.`,
  );
}

/** Null for an agent that has no source. */
async function updateAgent(
  { out, projectDir }: Context,
  agent: string,
  fetches: ReturnType<typeof openFetches>,
  prompts: Prompts | null,
  options: UpdateOptions,
): Promise<Updated | null> {
  const source = await agentSource(projectDir, agent);
  if (source === null) return null;
  const repository = await fetches.get(source.source.url);
  const plan = await planUpdate(source, repository);
  if (plan.changes.length === 0) return outcome(plan, "current");
  if (!out.json) out.data(renderUpdate(plan, out.colors));
  if (options.check) return outcome(plan, "available");
  if (localChanges(plan).length > 0 && !options.keepLocal) {
    const commands = await prepareMerge(projectDir, plan, repository);
    const message = `${agent} has local changes in files that changed at its source; nothing was written`;
    return {
      ...outcome(plan, "refused"),
      message,
      hint: `Merge them:\n  ${commands.join("\n  ")}`,
    };
  }
  if (!options.yes && !(await confirmed(prompts, agent))) return outcome(plan, "declined");
  await applyUpdate(projectDir, plan);
  return outcome(plan, "updated");
}

async function confirmed(prompts: Prompts | null, agent: string): Promise<boolean> {
  if (prompts === null) throw missingFlag("--yes", "an update changes what the agent does");
  return prompts.confirm(`Update ${agent}?`);
}

function outcome({ from, commit, changes, diff }: UpdatePlan, status: Updated["status"]): Updated {
  const { agent, text: source, commit: installed } = from;
  const none = { message: null, hint: null };
  return { agent, source, from: installed, to: commit, status, changes, diff, ...none };
}

function failed(agent: string, error: unknown): Updated {
  // Usage errors, and Ctrl-C at a question, end the whole command.
  if (!(error instanceof Problem) || error.exitCode !== 1) throw error;
  const nothing = { source: null, from: null, to: null, changes: [], diff: null };
  return { agent, status: "failed", ...nothing, message: error.message, hint: error.hint };
}

function print({ out }: Context, { agent, status, to, message, hint }: Updated): void {
  if (message !== null) {
    out.note(errorText({ message: `${agent}: ${message}`, hint }));
  } else if (status === "current") out.data(`${agent} is up to date`);
  else if (status === "updated") out.data(`${agent} is updated to ${to?.slice(0, 12) ?? ""}`);
  else if (status === "declined") out.note(`${agent} is not updated`);
}

/** Repositories fetched on demand, once for all their agents. */
function openFetches(env: NodeJS.ProcessEnv, signal: AbortSignal) {
  const fetched = new Map<string, Promise<FetchedRepository>>();
  return {
    get: (url: string) => {
      const known = fetched.get(url) ?? fetchRepository(url, { env, signal });
      fetched.set(url, known);
      return known;
    },
    remove: async () => {
      const settled = await Promise.allSettled(fetched.values());
      const there = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      await Promise.all(there.map((repository) => repository.remove()));
    },
  };
}

/** The changes of an update: the files, a diff of SKILL.md, and facts that a reader of these would miss. */
function renderUpdate({ from, commit, changes, diff, skill }: UpdatePlan, colors: Colors): string {
  const { agent, text, commit: installed } = from;
  const was = installed === null ? "an unknown commit" : installed.slice(0, 12);
  const changed = skill.files.filter(({ path }) => changes.some((change) => change.path === path));
  const review = reviewOf({ files: changed, leftOut: [], proposal: null });
  return [
    `${colors.bold(agent)}: ${plainLine(text)} ${was} → ${commit.slice(0, 12)}`,
    ...changes.map(({ path, kind, isLocal }) => {
      const isExecutable = changed.some((file) => file.path === path && file.isExecutable);
      const notes = [
        ...(isExecutable ? ["executable"] : []),
        ...(isLocal ? ["changed here, too"] : []),
      ];
      return `  ${kind.padEnd(8)} ${plainLine(path)}${notes.map((note) => colors.yellow(`  ${note}`)).join("")}`;
    }),
    ...(diff === null
      ? []
      : [`--- agents/${agent}/SKILL.md\n+++ agents/${agent}/SKILL.md`, diff].map((part) =>
          renderDifference(part, colors),
        )),
    ...warningLines(review, colors),
  ].join("\n");
}
