import { ownUser } from "./command-agents.ts";
import { LiveProject } from "./live-project.ts";

export interface ScriptedAgent {
  /** Turns of its model before the last one, which says "Done."; `turn` makes one. */
  readonly turns?: string;
  readonly credentials?: readonly string[];
  /** The end of its config; without it, its runs are processes of the scheduler's own user. */
  readonly config?: string;
  /** Other files in its directory. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A turn that calls a tool, whose arguments are TOML, after a text. */
export function turn(tool: string, args: string, text?: string): string {
  const said = text === undefined ? "" : `text = ${JSON.stringify(text)}\n`;
  return `[[turns]]\n${said}tools = [{ name = "${tool}", arguments = ${args} }]\n`;
}

/** A turn that runs a command of the shell. */
export const bash = (command: string): string =>
  turn("bash", `{ command = ${JSON.stringify(command)} }`);

/** A project of agents that are started by hand, or called, and play their scripts; more of its config. */
export async function scriptedAgents(
  agents: Readonly<Record<string, ScriptedAgent>>,
  config = "",
): Promise<LiveProject> {
  const project = await LiveProject.of({ "project/config.toml": config });
  for (const [name, agent] of Object.entries(agents)) await addScripted(project, name, agent);
  return project;
}

/** Adds one of these agents to a project. */
export async function addScripted(
  project: LiveProject,
  name: string,
  { turns = "", credentials = [], config = ownUser, files = {} }: ScriptedAgent,
): Promise<void> {
  const script = `${name}.script.toml`;
  await project.append(
    "config.toml",
    `\n[models.${name}]\nprovider = "scripted"\nscript = "${script}"\n`,
  );
  await project.write(script, `${turns}[[turns]]\ntext = "Done."\n`);
  const own = {
    "SKILL.md": "Work.\n",
    "config.toml": `models = ["${name}"]\ncredentials = ${JSON.stringify(credentials)}\ncallable = true\n${config}`,
    ...files,
  };
  for (const [path, text] of Object.entries(own))
    await project.write(`agents/${name}/${path}`, text);
}
