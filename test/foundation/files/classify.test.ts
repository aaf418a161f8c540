import { classify } from "../../../src/foundation/files/classify.ts";

test.each([
  ["config.toml", { kind: "project" }],
  ["holidays.ics", { kind: "project" }],
  ["agents/", { kind: "agents-root" }],
  ["agents/dev", { kind: "agent", name: "dev" }],
  ["agents/dev/config.toml", { kind: "agent", name: "dev" }],
  ["agents\\dev\\SKILL.md", { kind: "agent", name: "dev" }],
  ["agents/dev/out.schema.json", { kind: "agent", name: "dev" }],
  ["agents/dev/schemas", { kind: "agent", name: "dev" }],
  ["agents/dev/schemas/out.json", { kind: "agent", name: "dev" }],
  ["agents/dev/sub/out.json", { kind: "image", name: "dev" }],
  ["agents/Not Allowed/SKILL.md", { kind: "agent", name: "Not Allowed" }],
  ["agents/dev/setup.sh", { kind: "image", name: "dev" }],
  ["agents/dev/sub/config.toml", { kind: "image", name: "dev" }],
])("a change of the file %s is classified as %j", (path, kind) =>
  expect(classify(path)).toEqual(kind),
);

test.each([
  "",
  "README.md",
  ".al/state.db",
  ".git/config.toml",
  "node_modules/x/config.toml",
  "agents/dev/.SKILL.md.swp",
  "agents/dev/setup.sh~",
  "agents/dev/sub/.setup.sh.swx",
  "other/config.toml",
])("a change of the file %j is ignored", (path) => expect(classify(path)).toBeNull());
