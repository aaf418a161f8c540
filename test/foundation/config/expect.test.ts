import { readAgent } from "../../../src/foundation/config/agent-files.ts";
import { canonicalConfig } from "../../../src/foundation/config/canonical-config.ts";
import { resolveAgent } from "../../../src/foundation/config/resolve-agent.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { AgentChange } from "../../../streams/vocabulary.ts";
import {
  agent,
  directory,
  known,
  project,
  refusal,
  said,
  usualAgent,
  usualProject,
} from "./samples.ts";

const schema = '{"type":"object"}';

/** What becomes of an agent in a directory of its own, by these lines of `[expect]`. */
async function changeWith(lines: string, files: Record<string, string> = {}): Promise<AgentChange> {
  const own = Object.entries(files).map(([name, text]) => [`agents/dev/${name}`, text]);
  const dir = await directory({
    "agents/dev/config.toml": `${usualAgent}[expect]\n${lines}\n`,
    "agents/dev/SKILL.md": "Do it.",
    "secret.json": schema,
    ...(Object.fromEntries(own) as Record<string, string>),
  });
  const read = await readAgent(dir, "dev");
  if (read === null) throw new Error("the agent is not read");
  return resolveAgent(read, project(usualProject), known);
}

async function agentWith(lines: string, files?: Record<string, string>): Promise<AgentConfig> {
  const change = await changeWith(lines, files);
  if (change.type === "set") return change.agent;
  throw new Error(said(change).join("\n"));
}

test("[expect] has the values of its table, or is null if the table is missing", async () => {
  expect(agent(usualAgent).expect).toBeNull();
  expect((await agentWith("returned = true")).expect).toEqual({
    returned: true,
    said: false,
    schema: null,
  });
  const files = { "out.schema.json": schema };
  expect((await agentWith('said = true\nschema = "out.schema.json"', files)).expect).toEqual({
    returned: false,
    said: true,
    schema: { file: "out.schema.json", text: schema },
  });
});

test.each([
  [
    "a missing schema",
    'schema = "out.json"',
    {},
    "agents/dev/config.toml:5:10  expect.schema: out.json is missing in the agent's directory; put",
  ],
  [
    "a schema outside of the agent's directory",
    'schema = "../../secret.json"',
    {},
    'agents/dev/config.toml:5:10  expect.schema is "../../secret.json"; expected a JSON file in',
  ],
  [
    "an invalid schema",
    'schema = "out.json"',
    { "out.json": '{\n  "type": "objekt"\n}' },
    "agents/dev/out.json:2:11  not a JSON Schema: /type must be equal to one of the allowed",
  ],
  [
    "a schema of 300 KB",
    'schema = "out.json"',
    { "out.json": `{"a":"${"x".repeat(300_000)}"}` },
    "agents/dev/config.toml:5:10  expect.schema: out.json has 300008 bytes; expected at most",
  ],
])("[expect] refuses %s", async (_what, lines, files, message) => {
  expect(refusal(await changeWith(lines, files))).toContain(message);
});

test("[expect] creates a new version of an agent if the schema file changes; alert settings create none", async () => {
  const options = {
    mask: (text: string) => text,
    projectDir: "/srv",
    container: null,
    project: project(""),
    files: {},
  };
  const line = 'schema = "out.json"';
  const one = canonicalConfig(await agentWith(line, { "out.json": schema }), options);
  const two = canonicalConfig(await agentWith(line, { "out.json": "{}" }), options);
  expect(one).toMatch(/"schema": "out.json [0-9a-f]{16}"/);
  expect(two).not.toBe(one);
  const url = 'url = "https://a.example/x"';
  const silent = agent(`${usualAgent}[alert]\nto = []\n[heartbeat]\n${url}`);
  expect(canonicalConfig(silent, options)).toBe(canonicalConfig(agent(usualAgent), options));
});
