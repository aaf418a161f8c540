import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { loadProject } from "../../config/load-project.ts";
import { UserError, messageOf } from "../../errors.ts";
import { filterTable } from "../../webhooks/providers/table.ts";
import type { Context } from "../context.ts";
import { titleOf } from "../new/templates.ts";
import { openPrompts } from "../terminal/prompts.ts";
import { refuseFaults } from "../refuse-faults.ts";
import { writeSchemas } from "../schema-files.ts";
import { chooseAgent } from "./choose-agent.ts";
import type { AgentOptions, NewAgent } from "./choose-agent.ts";
import { newConfigText } from "./new-config-text.ts";

/** Makes an agent whose files have no fault. Overwrites nothing; throws a UserError when it can't. */
export async function newAgent(
  context: Context,
  given: string | null,
  options: AgentOptions,
): Promise<void> {
  const { out, projectDir } = context;
  const { project } = await loadProject(projectDir, filterTable);
  const agent = await chooseAgent(given, options, project, await openPrompts(context));
  const texts = { config: newConfigText(agent), skill: skillOf(agent) };
  refuseFaults({ name: agent.name, ...texts }, project, {
    hint: "nothing was written",
    exitCode: 2,
  });
  const dir = join(projectDir, "agents", agent.name);
  await write(dir, texts);
  await writeSchemas(projectDir);
  const files = ["SKILL.md", "config.toml"].map((file) => `agents/${agent.name}/${file}`);
  if (out.json) return out.document({ agent: agent.name, files });
  for (const file of files) out.data(file);
  out.note(`\nWrite what ${agent.name} does into ${files[0] ?? ""}; then: al run ${agent.name}`);
}

interface Texts {
  readonly config: string;
  readonly skill: string;
}

function skillOf({ name, description }: NewAgent): string {
  const about = description === "" ? "" : `description: ${JSON.stringify(description)}\n`;
  const what = description === "" ? "Say here what the agent does, and how." : description;
  return `---\nname: ${titleOf(name)}\n${about}---\n\n${what}\n`;
}

async function write(dir: string, { config, skill }: Texts): Promise<void> {
  await mkdir(dirname(dir), { recursive: true });
  try {
    await mkdir(dir);
  } catch (error) {
    const isThere = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (!isThere) throw unwritable(dir, error);
    const hint = whatIsThere(dir);
    throw new UserError("exists", `${dir} is there already; nothing was written`, {
      ...{ hint, cause: error },
    });
  }
  try {
    await writeFile(join(dir, "SKILL.md"), skill);
    // Last: with it the directory is an agent, and a running scheduler takes it up.
    await writeFile(join(dir, "config.toml"), config);
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw unwritable(dir, error);
  }
}

/** What to do about a directory that is there. */
function whatIsThere(dir: string): string {
  const command = `al config ${basename(dir)}`;
  if (existsSync(join(dir, "config.toml"))) return `${command} changes the agent`;
  if (existsSync(join(dir, "SKILL.md"))) return `${command} makes its config.toml`;
  return "it holds no agent: move it away, or choose another name";
}

function unwritable(dir: string, cause: unknown): UserError {
  return new UserError("unwritable", `${dir} can't be written: ${messageOf(cause)}`, { cause });
}
