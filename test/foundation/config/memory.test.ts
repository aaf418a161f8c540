import { describeChange } from "../../../src/foundation/config/agent-view.ts";
import { readAgent } from "../../../src/foundation/config/agent-files.ts";
import { resolveAgent } from "../../../src/foundation/config/resolve-agent.ts";
import { describeProjectChange } from "../../../src/foundation/config/describe-project-change.ts";
import type { AgentChange } from "../../../streams/vocabulary.ts";
import { agent, agentChange, directory, known, project, refusal, said } from "./samples.ts";
import { usualAgent, usualProject } from "./samples.ts";

const withTable = (lines: string): string => `${usualAgent}[memory]\n${lines}\n`;
const projectText = `${usualProject}
[memories.team]
writers = ["dev"]
maxBytes = "2m"

[memories.facts]
`;
const usual = { maxBytes: 1024 ** 2, maxFileBytes: 256 * 1024 };

test("[memory] is null if the table is missing, and has defaults for missing keys", () => {
  expect(agent(usualAgent).memory).toBeNull();
  const none = { schema: {}, shared: [], trusted: [] };
  expect(agent(withTable("")).memory).toEqual({ ...usual, ...none, untrusted: "propose" });
});

test("[memory].shared names memories of the project, which only their writers may change", () => {
  const lines = 'shared = ["facts", "team"]\nuntrusted = "read"\ntrusted = ["mona"]';
  expect(agent(withTable(lines), { projectText }).memory).toMatchObject({
    shared: [
      { name: "team", isWriter: true, ...usual, maxBytes: 2 * 1024 ** 2 },
      { name: "facts", isWriter: false, ...usual },
    ],
    untrusted: "read",
    trusted: ["mona"],
  });
});

test.each([
  ['maxBytes = "much"', "a size"],
  ['untrusted = "ask"', "memory.untrusted"],
  ['schema = { "../a.json" = "a.json" }', "the path of a file"],
  ['schema = { "a.json" = "other/a.json" }', "a JSON file in its directory"],
  [
    'shared = ["constructor"]',
    'names "constructor", which the project\'s config.toml does not have',
  ],
  ['shared = ["fact"]', 'did you mean "facts"?'],
])("[memory] refuses %s with the reason", (lines, reason) => {
  expect(refusal(agentChange(withTable(lines), { projectText }))).toContain(reason);
});

async function changeWith(files: Record<string, string>): Promise<AgentChange> {
  const dir = await directory({
    "agents/dev/config.toml": withTable('schema = { "state.json" = "schemas/state.json" }'),
    "agents/dev/SKILL.md": "Do it.",
    ...files,
  });
  const read = await readAgent(dir, "dev");
  if (read === null) throw new Error("the agent is not read");
  return resolveAgent(read, project(usualProject), known);
}

test("[memory].schema is read from the agent's directory and its folder schemas", async () => {
  const text = '{"type":"object"}';
  const change = await changeWith({ "agents/dev/schemas/state.json": text });
  if (change.type !== "set") throw new Error(said(change).join("\n"));
  const schema = { "state.json": { file: "schemas/state.json", text } };
  expect(change.agent.memory?.schema).toEqual(schema);
  expect(refusal(await changeWith({}))).toContain(
    "memory.schema.state.json: schemas/state.json is",
  );
  expect(refusal(await changeWith({ "agents/dev/schemas/state.json": "[" }))).toContain(
    "agents/dev/schemas/state.json:1:2  not a JSON Schema",
  );
});

test("changes of [memory] and [memories] are described by their keys", () => {
  const before = agent(usualAgent);
  const after = agent(withTable('maxBytes = "2m"'));
  expect(describeChange(before, after)).toContain('memory.maxBytes none → "2m"');
  const shared = agent(withTable('shared = ["team"]'), { projectText });
  const others = projectText.replace('["dev"]', "[]");
  const reader = agent(withTable('shared = ["team"]'), { projectText: others });
  expect(describeChange(shared, reader)).toBe("shared memories changed");
  const change = describeProjectChange(project(usualProject), project(projectText));
  expect(change.text).toBe("[memories.team] added, [memories.facts] added");
});
