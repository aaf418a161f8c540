import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { toAgentStatus } from "../../../../streams/status/agent-record.ts";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { listAgents as agentFolders } from "../../../foundation/config/agent-files.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { Problem } from "../../../foundation/errors.ts";
import { draftName } from "../../../foundation/files/replace-file.ts";
import { ensureStateDir } from "../../../foundation/store/state-dir.ts";
import type { Context } from "../context.ts";
import { isNotRunning, noProject, unknownAgent } from "../operator/connect.ts";
import { askProject, type ProjectReader } from "../operator/reader.ts";
import { plainLine } from "../terminal/format.ts";
import { mustConfirm, openPrompts } from "../terminal/prompts.ts";
import { renderTable, titled } from "../terminal/table.ts";
import { unwritable } from "../write-files.ts";

/** An agent as listed by `al agent ls`. */
type ListedAgent = Pick<AgentStatus, "name" | "title" | "tags" | "enabled" | "state">;

/** Prints the agents of the project; from its files alone if it never ran. */
export async function listAgents(context: Context): Promise<void> {
  const { out } = context;
  const agents = (await agentsOf(context)).map(listed);
  if (out.json) return out.document({ agents });
  if (agents.length === 0) return out.note("no agents yet; al agent new creates one");
  out.data(renderTable(titled("Agent", "State", "Tags…", "Title…"), agents.map(rowOf), out));
}

async function agentsOf(context: Context): Promise<readonly AgentStatus[]> {
  try {
    return (await askProject(context, (reader) => reader.status())).agents;
  } catch (error) {
    if (!isNotRunning(error) || noProject(context.projectDir) !== null) throw error;
    const { readProjectFiles } = await import("../../operations/stored-project.ts");
    return (await readProjectFiles(context.projectDir)).agents.map(toAgentStatus);
  }
}

function listed({ name, title, tags, enabled, state }: AgentStatus): ListedAgent {
  return { name, title, tags, enabled, state };
}

function rowOf({ name, title, tags, enabled, state }: ListedAgent): string[] {
  const shown = enabled ? state : "disabled";
  return [name, shown, tags.map(plainLine).join(", "), plainLine(title)];
}

/** Removes an agent's directory after asking; its history, logs and spending stay. Throws a Problem. */
export async function removeAgent(
  context: Context,
  name: string,
  { yes }: { readonly yes?: true },
): Promise<void> {
  const { out, projectDir } = context;
  const { names } = await agentFolders(projectDir);
  if (!names.includes(name)) throw unknownAgent(name, names);
  await mustNotRun(context, name);
  if (yes !== true) {
    const directory = `agents/${name} with all of its files`;
    await mustConfirm(await openPrompts(context), {
      question: `Remove ${directory} permanently?`,
      why: `${directory} would be removed permanently`,
      refused: "nothing was removed",
    });
  }
  await removeDirectory(projectDir, name);
  const text = `agents/${name} is removed; its history and logs stay`;
  out.answer({ agent: name, removed: `agents/${name}` }, text);
}

async function mustNotRun(context: Context, name: string): Promise<void> {
  const running = await runningOf(context, name);
  if (running === 0) return;
  const runs = running === null ? "has unfinished work" : `has ${counted(running, "run")}`;
  throw new Problem(
    "running",
    `agent ${name} ${runs}; nothing was removed`,
    running === null
      ? "Continue its runs with `al start`, and remove the agent when they have ended."
      : `Wait, or end them with \`al kill ${name}\`.`,
  );
}

/** How many of the agent's runs a scheduler has; null for runs that a dead scheduler left behind. */
async function runningOf(context: Context, name: string): Promise<number | null> {
  const ask = async (reader: ProjectReader): Promise<number | null> => {
    const status = await reader.status();
    const agent = status.agents.find((one) => one.name === name);
    if (status.scheduler !== null) return agent?.running ?? 0;
    const { triggers } = await reader.perform("GET /api/stats/triggers", {
      agent: name,
      limit: 200,
    });
    const left = triggers.some(({ startedAt, endedAt }) => startedAt !== null && endedAt === null);
    return left ? null : 0;
  };
  try {
    return await askProject(context, ask);
  } catch (error) {
    // Without a store there was never a run.
    if (isNotRunning(error)) return 0;
    throw error;
  }
}

/** In one step, so that a running scheduler never sees half of it. A link is removed, and its target stays. */
async function removeDirectory(projectDir: string, name: string): Promise<void> {
  const dir = join(projectDir, "agents", name);
  const draft = join(ensureStateDir(projectDir), draftName());
  try {
    await rename(dir, draft);
  } catch (error) {
    throw unwritable(dir, error);
  }
  await rm(draft, { recursive: true, force: true });
}
