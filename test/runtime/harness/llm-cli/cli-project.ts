import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ownUser } from "../../../helpers/command-agents.ts";
import { LiveProject } from "../../../helpers/live-project.ts";
import type { Program } from "./play.ts";
import type { Case } from "./cli-cases.ts";

export const runtimes = ["host-user", "container"] as const;
export type Runtime = (typeof runtimes)[number];

const models = {
  claude: ["claude-sonnet-4-5", "anthropic-messages"],
  codex: ["gpt-5.5", "openai-responses"],
  gemini: ["gemini-2.5-pro", "google-generative-ai"],
} as const;

export interface CliAgent {
  readonly program: Program;
  readonly runtime: Runtime;
  readonly of: Case;
}

export const nameOf = ({ program, runtime, of }: CliAgent): string => `${program}-${runtime}-${of}`;

interface CliProjectOptions {
  readonly agents: readonly CliAgent[];
  /** The provider of all models, and the MCP server over HTTP. */
  readonly origin: string;
  readonly mcpUrl: string;
  /** The folder of the command lines, and `[runtime]` of their agents. */
  readonly places: Readonly<Record<Runtime, readonly [bin: string, runtime: string]>>;
  readonly image: string;
}

/** A project with an agent for each case, command line and runtime, and the one that they call. */
export async function cliProject({
  agents,
  places,
  ...given
}: CliProjectOptions): Promise<LiveProject> {
  const { origin, mcpUrl, image } = given;
  // A refused key blocks its model, so each agent has a model of its own.
  const tables = agents.map((agent) => {
    const [model, api] = models[agent.program];
    return `[models.${nameOf(agent)}]
provider = "custom"
model = "${model}"
api = "${api}"
baseUrl = "${origin}"
timeout = 4
maxRetries = 4
price = { input = 3, output = 15, cacheRead = 0.3, cacheWrite = 3.75 }
`;
  });
  const project = await LiveProject.of({
    "project/config.toml": `[local]\nimage = "${image}"\n${tables.join("")}`,
    "home/credentials/custom_key/default/key": "key-of-the-model",
    "project/agents/callee/SKILL.md": "Answer.\n",
    "project/agents/callee/config.toml": `models = ["${agents.map(nameOf)[0]}"]
credentials = []
callable = true
scale = 10
[harness]
type = "llm-cli"
command = ["sh", "-c", "cat > /dev/null; al-return 42"]
${ownUser}`,
  });
  const server = await readFile(join(import.meta.dirname, "slow-server.mjs"), "utf8");
  for (const agent of agents) {
    const [bin, runtime] = places[agent.runtime];
    const folder = `agents/${nameOf(agent)}`;
    // No instructions of the agent.
    const hooks = `[hooks]\npre = ["echo canary-of-notes | tee CLAUDE.md AGENTS.md"]\n`;
    const mcp = `[[mcp]]
name = "all"
url = "${mcpUrl}"
private = true
tools = ["echo"]
[[mcp]]
name = "slow"
command = ["node", "scripts/slow-server.mjs"]
tools = ["slow_note"]
`;
    const isTools = agent.of === "tools";
    await project.write(`${folder}/SKILL.md`, `Work on case:${nameOf(agent)}\n`);
    if (isTools) await project.write(`${folder}/scripts/slow-server.mjs`, server);
    await project.write(
      `${folder}/config.toml`,
      `models = ["${nameOf(agent)}"]
credentials = []
callable = true
timeout = 150
[harness]
type = "llm-cli"
command = "${join(bin, agent.program)}"
${runtime}${isTools ? hooks + mcp : ""}`,
    );
  }
  await chmod(project.path(".."), 0o755);
  return project;
}
