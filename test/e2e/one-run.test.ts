import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { standIn } from "../runtime/harness/llm-cli/stand-in.ts";
import type { StandIn } from "../runtime/harness/llm-cli/stand-in.ts";
import { claudeStream } from "../runtime/harness/llm-cli/streams.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { forAll, LiveProject } from "../helpers/live-project.ts";

let project: LiveProject;
let cli: StandIn;

const claude = 'models = ["claude", "scripted"]\n';
/** Each agent has the config of one test; all share a scheduler. */
const agents = {
  hooked: 'models = ["scripted"]\ntimeout = 3\n[hooks]\npre = ["sleep 300"]\n',
  unmet: 'models = ["scripted"]\ncredentials = ["github_token"]\n',
  fallback: 'models = ["scripted", "grok"]\n',
  claude: `${claude}[harness]\ntype = "llm-cli"\n`,
  codex: 'models = ["gpt"]\n[harness]\ntype = "llm-cli"\ncommand = "codex"\n',
};
const models = `
[models.grok]
provider = "xai"
model = "grok-4"
[models.gpt]
provider = "openai"
model = "gpt-5.2-codex"
`;

forAll(async () => {
  project = await LiveProject.copy("examples/hello");
  cli = await standIn(project.dir, "claude", { stream: claudeStream });
  await project.append("config.toml", models);
  for (const key of ["anthropic_key", "openai_key"]) {
    await project.store(`${key}/default/key`, "sk-of-the-model");
  }
  for (const [name, config] of Object.entries(agents)) {
    const credentials = config.includes("credentials") ? "" : "credentials = []\n";
    await project.write(`agents/${name}/SKILL.md`, "Greet.\n");
    const text = `callable = true\n${credentials}${config}${ownUser}`;
    await project.write(`agents/${name}/config.toml`, text);
  }
  await project.start({ env: { PATH: cli.path } });
});

/** Runs the agent once; its entry in the history and the output of `al run`. */
async function run(agent: keyof typeof agents) {
  const { code, stdout, stderr } = await project.al("run", agent);
  const trigger = await project.latest(agent);
  return { code, output: stdout + stderr, trigger };
}

describe("a run", () => {
  test("ends at its timeout while a hook is still running", async () => {
    const { code, trigger } = await run("hooked");
    expect(code).toBe(124);
    expect(trigger).toMatchObject({ outcome: "timed_out", exitCode: 124 });
    expect(trigger?.durationMs).toBeLessThan(20_000);
  });

  test("does not start without a credential, and names the command that adds it", async () => {
    const { code, output, trigger } = await run("unmet");
    expect(code).not.toBe(0);
    expect(output).toContain("credential github_token is missing");
    expect(output).toContain(join(project.home, "credentials", "github_token", "default"));
    expect(trigger).toMatchObject({ outcome: "rejected", startedAt: null });
    expect(trigger?.reason).toContain("al creds add github_token");
  });

  test("starts without the key of a fallback model, with a warning", async () => {
    const { code, output } = await run("fallback");
    expect(code).toBe(0);
    expect(output).toContain('model "grok": credential xai_key is missing');
  });

  test("with the llm-cli harness logs the CLI's tools, and records its tokens and cost", async () => {
    const { code, output, trigger } = await run("claude");
    expect(code).toBe(0);
    expect(output).toContain("Bash: exit 3");
    expect(trigger).toMatchObject({
      outcome: "succeeded",
      model: "claude",
      tokens: 255,
      costUsd: 0.0012,
    });
    const env = await cli.env();
    expect(env.ANTHROPIC_API_KEY).toMatch(/^[0-9a-f]{48}$/);
    expect(JSON.stringify(env)).not.toContain("sk-of-the-model");
  });

  test("with the llm-cli harness names the command to install when the CLI is missing", async () => {
    const { code, trigger } = await run("codex");
    expect(code).toBe(1);
    expect(trigger?.reason).toContain("npm install -g @openai/codex");
  });
});
