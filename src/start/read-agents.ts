import { listAgents, readAgent, readBareSkill } from "../config/agent-files.ts";
import type { AgentFiles } from "../config/agent-files.ts";
import { messageOf, UserError } from "../errors.ts";
import { scanProject } from "../files/scan.ts";
import type { Scan } from "../files/scan.ts";
import type { Problem } from "../../streams/vocabulary.ts";

/**
 * All agents of a project as they are on disk, and the directories that can't be one. Rejects with UserError
 * `unreadable_agents` when `agents/` can't be read: a start without agents would refuse all work that waits for them.
 */
export async function readAgents(projectDir: string): Promise<{
  readonly agents: ReadonlyMap<string, AgentFiles>;
  readonly problems: readonly Problem[];
  /** Names of directories that are no agents only because they have no `config.toml`. */
  readonly bareSkills: readonly string[];
  /** How the files looked just before they were read. */
  readonly scan: Scan;
}> {
  const scan = await scanProject(projectDir).catch((cause: unknown) => {
    throw new UserError("unreadable_agents", `the agents can't be read: ${messageOf(cause)}`, {
      hint: "make agents/ and the directories on its way readable for the user that runs the scheduler",
      cause,
    });
  });
  const { names, problems } = await listAgents(projectDir);
  const files = await Promise.all(names.map((name) => readAgent(projectDir, name)));
  const there = files.filter((one) => one !== null);
  const others = names.filter((_, index) => files[index] === null);
  const bare = await Promise.all(others.map((name) => readBareSkill(projectDir, name)));
  return {
    agents: new Map(there.map((one) => [one.name, one])),
    problems,
    bareSkills: bare.flatMap((one) => (one === null ? [] : [one.name])),
    scan,
  };
}
