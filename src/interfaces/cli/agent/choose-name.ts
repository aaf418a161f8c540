import { existsSync } from "node:fs";
import { join } from "node:path";
import { agentNameProblem } from "../../../foundation/config/agent-files.ts";
import { UserError } from "../../../foundation/errors.ts";
import { missingFlag } from "../terminal/prompts.ts";
import type { Prompts } from "../terminal/prompts.ts";

/** The name of a new agent, whose directory is not there yet. Throws a UserError before anything else is asked. */
export async function chooseName(
  projectDir: string,
  given: string | null,
  prompts: Prompts | null,
): Promise<string> {
  if (given === null) return askName(projectDir, prompts);
  const problem = agentNameProblem(given);
  if (problem !== null) throw new UserError("usage", problem, { exitCode: 2 });
  const dir = join(projectDir, "agents", given);
  if (!existsSync(dir)) return given;
  const message = `${dir} is there already; nothing was written`;
  throw new UserError("exists", message, { hint: whatIsThere(dir, given) });
}

async function askName(projectDir: string, prompts: Prompts | null): Promise<string> {
  if (prompts === null) throw missingFlag("the agent's name", "al agent new <name>");
  const problem = (name: string): string | null => {
    const dir = join(projectDir, "agents", name);
    return agentNameProblem(name) ?? (existsSync(dir) ? whatIsThere(dir, name) : null);
  };
  return prompts.text({ message: "Name of the agent", problem });
}

/** What to do about a directory that is there. */
function whatIsThere(dir: string, name: string): string {
  const command = `al config ${name}`;
  if (existsSync(join(dir, "config.toml"))) return `${command} changes the agent`;
  if (existsSync(join(dir, "SKILL.md"))) return `${command} makes its config.toml`;
  return "it holds no agent: move it away, or choose another name";
}
