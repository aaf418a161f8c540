import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { listAgents } from "../../../foundation/config/agent-files.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { UserError } from "../../../foundation/errors.ts";
import { draftName } from "../../../foundation/files/replace-file.ts";
import { ensureStateDir } from "../../../foundation/store/state-dir.ts";
import type { Context } from "../context.ts";
import { isNotRunning, unknownAgent } from "../operator/connect.ts";
import type { ProjectReader } from "../operator/project-reader.ts";
import { askProject } from "../operator/reader.ts";
import { missingFlag, openPrompts } from "../terminal/prompts.ts";
import { unwritable } from "../write-files.ts";

export interface RemoveAgentOptions {
  readonly yes?: true;
}

/** Removes an agent's directory after asking; its history, logs and spending stay. Throws a UserError. */
export async function removeAgent(
  context: Context,
  name: string,
  { yes }: RemoveAgentOptions,
): Promise<void> {
  const { out, projectDir } = context;
  const { names } = await listAgents(projectDir);
  if (!names.includes(name)) throw unknownAgent(name, names);
  await mustNotRun(context, name);
  if (yes !== true) await confirm(context, name);
  await removeDirectory(projectDir, name);
  if (out.json) return out.document({ agent: name, removed: `agents/${name}` });
  out.data(`agents/${name} is removed; its history and logs stay`);
}

async function mustNotRun(context: Context, name: string): Promise<void> {
  const running = await runningOf(context, name);
  if (running === 0) return;
  const runs = running === null ? "has work that did not end" : `has ${counted(running, "run")}`;
  throw new UserError("running", `${name} ${runs}; nothing was removed`, {
    hint:
      running === null
        ? "al start goes on with its runs; remove it once they ended"
        : `wait, or end it: al kill ${name}`,
  });
}

/** How many of its runs a scheduler has; null for runs that a scheduler which is gone left behind. */
async function runningOf(context: Context, name: string): Promise<number | null> {
  const ask = async (reader: ProjectReader): Promise<number | null> => {
    const status = await reader.status();
    const agent = status.agents.find((one) => one.name === name);
    if (status.scheduler !== null) return agent?.running ?? 0;
    const { triggers } = await reader.history({ agent: name, limit: 200 });
    const left = triggers.some(({ startedAt, endedAt }) => startedAt !== null && endedAt === null);
    return left ? null : 0;
  };
  try {
    return await askProject(context, ask);
  } catch (error) {
    // Without a store nothing ever ran.
    if (isNotRunning(error)) return 0;
    throw error;
  }
}

async function confirm(context: Context, name: string): Promise<void> {
  const what = `agents/${name} with all of its files`;
  const prompts = await openPrompts(context);
  if (prompts === null) throw missingFlag("--yes", `${what} would be gone for good`);
  if (await prompts.confirm(`Remove ${what} for good?`)) return;
  throw new UserError("refused", "nothing was removed");
}

/** In one step, so that a running scheduler sees no half of it. A link goes, and not what it leads to. */
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
