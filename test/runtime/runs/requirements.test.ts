import { Problem } from "../../../src/foundation/errors.ts";
import type { CommandProblem } from "../../../src/runtime/runs/harness-command.ts";
import { commandProblem } from "../../../src/runtime/runs/harness-command.ts";
import { unmetRequirements } from "../../../src/runtime/runs/requirements.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { aModelConfig, anAgent } from "../../helpers/agents.ts";

const model = (name: string) =>
  aModelConfig({ name, provider: "openai", authType: "api_key", credential: `${name}_key` });

/** What an agent lacks where these credentials are stored. */
async function unmet(
  config: Partial<AgentConfig>,
  stored: readonly string[],
  command: CommandProblem | null = null,
): Promise<string[]> {
  const problems = await unmetRequirements(anAgent("dev", config), {
    credential: async (type) => {
      await Promise.resolve();
      if (stored.includes(type)) return { type, instance: "default", fields: { key: "k" } };
      throw new Problem("missing_credential", `no ${type}`, `al creds add ${type}`);
    },
    script: () => Promise.reject(new Error("not asked for")),
    command: () => Promise.resolve(command),
    user: (name) => Promise.resolve(name !== "nobodyhere"),
  });
  return problems.map(({ severity, file, message }) => `${severity} ${file} ${message}`);
}

const both = [model("a"), model("b")];
const file = "agents/dev/config.toml";
/** Why a model can't be used. */
const lacking = (name: string, instead = "") =>
  `config.toml model "${name}" can't be used${instead}: no ${name}_key; al creds add ${name}_key`;

test.each<[string, Partial<AgentConfig>, string[], string[]]>([
  [
    "a missing credential",
    { credentials: ["t", "u"] },
    ["t"],
    [`error ${file} no u; al creds add u`],
  ],
  [
    "the missing key of the first model",
    { models: both },
    ["b_key"],
    [`warning ${lacking("a", ', so runs use "b"')}`],
  ],
  ["the missing key of a fallback", { models: both }, ["a_key"], [`warning ${lacking("b")}`]],
  [
    "the missing keys of all models",
    { models: both },
    [],
    ["a", "b"].map((name) => `error ${lacking(name)}`),
  ],
  [
    "the missing key of an external CLI's model, whatever other models have",
    { models: both, harness: { type: "llm-cli", command: "claude" } },
    ["b_key"],
    [`error ${lacking("a")}`],
  ],
  [
    "an unknown OS user",
    { runtime: { type: "host-user", runAs: "nobodyhere" } },
    [],
    [
      `error ${file} run_as of [runtime] names an unknown OS user, "nobodyhere"; al doctor creates it, or shows how`,
    ],
  ],
  ["nothing for a known OS user", { runtime: { type: "host-user", runAs: "al-agent" } }, [], []],
  ["nothing for an agent with scale 0", { models: both, credentials: ["t"], scale: 0 }, [], []],
])("unmetRequirements reports %s", async (_what, config, stored, said) => {
  expect(await unmet(config, stored)).toEqual(said);
});

test.each([
  ["certainly", "error", true],
  ["possibly", "warning", false],
])("an agent's command that is %s missing is reported as %s", async (_how, severity, isCertain) => {
  const problem = { reason: "it is not there", hint: "install it", isCertain };
  const said = [`${severity} ${file} it is not there; install it`];
  expect(await unmet({ models: [] }, [], problem)).toEqual(said);
});

const using = (
  command: string,
  type: AgentConfig["runtime"]["type"] = "host-user",
  runAs = "$USER",
): Partial<AgentConfig> => ({
  harness: { type: "llm-cli", command },
  runtime: { type, runAs },
});

test.each<[string, Partial<AgentConfig>, Partial<CommandProblem> | null]>([
  ["finds no problem for pi", { harness: { type: "pi", command: "gone" } }, null],
  [
    "returns how to install a known command",
    using("codex"),
    {
      isCertain: true,
      hint: expect.stringMatching(/^install it: npm install .*codex; or/) as string,
    },
  ],
  [
    "is not certain for another OS user",
    using("codex", "host-user", "al-agent"),
    { isCertain: false },
  ],
  [
    "reports arguments of a known command",
    {
      ...using("claude", "container"),
      harness: { type: "llm-cli", command: "claude", args: ["-p"] },
    },
    { isCertain: true, hint: "remove them from harness.command" },
  ],
  ["finds no problem for a command in a container", using("codex", "container"), null],
  [
    "reports that claude refuses to run as root",
    using("./claude", "host-user", "root"),
    {
      isCertain: false,
      reason: expect.stringContaining("claude refuses to run as root") as string,
    },
  ],
  ["accepts other commands as root", using("./codex", "host-user", "root"), null],
])("commandProblem %s", async (_what, config, expected) => {
  const problem = await commandProblem(anAgent("dev", config), { PATH: "/nowhere" });
  expect(problem).toEqual(expected && expect.objectContaining(expected));
});
