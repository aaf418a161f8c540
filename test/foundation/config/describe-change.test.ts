import { describeProjectChange } from "../../../src/foundation/config/describe-project-change.ts";
import { project, usualProject, agent, usualAgent } from "./samples.ts";
import { describeChange } from "../../../src/foundation/config/agent-view.ts";

test.each([
  ["", "# a comment", ""],
  ["", 'scale = 2\ncatchUp = "latest"', 'catchUp "none" → "latest", scale 1 → 2'],
  [
    "",
    '[harness]\ntype = "llm-cli"\n[runtime]\ntype = "host-user"',
    'harness.type "pi" → "llm-cli", runtime.type "container" → "host-user"',
  ],
  [
    "[approve]\nover = 5",
    '[approve]\nhosts = ["a.test"]',
    'approve.hosts [] → ["a.test"], approve.over 5 → none',
  ],
  [
    "",
    '[alert]\nto = []\nafter = 2\nnoSuccessFor = "48h"',
    'alert.to none → [], alert.after 1 → 2, alert.noSuccessFor "never" → "2d"',
  ],
])("describeChange from %j to %j shows the old and the new values: %s", (before, after, text) => {
  expect(describeChange(agent(usualAgent + before), agent(usualAgent + after))).toBe(text);
});

test("describeChange omits values that are long or private", () => {
  const config = `${usualAgent}[local]\nenv.A = "b"\n[heartbeat]\nurl = "https://a.example/key"
[[mcp]]\nname = "files"\ncommand = ["files"]\ntools = ["*"]
[[webhooks]]\nsource = "hub"\n[hooks]\npre = ["x"]\n[params]\na = "b"`;
  const skill = "---\nname: Other\ndescription: New\n---\nDo that.";
  expect(describeChange(agent(usualAgent), agent(config, { skill }))).toBe(
    'name "Developer" → "Other", description changed, SKILL.md changed, webhooks changed, hooks changed, params changed, local.env changed, mcp changed, heartbeat changed',
  );
});

test("describeChange reports a changed schema file, and changed files of the image", () => {
  const usual = { ...agent(usualAgent), dockerfileHash: "a" };
  const expected = { returned: false, said: false };
  const withSchema = (text: string) => ({
    ...usual,
    expect: { ...expected, schema: { file: "out.json", text } },
  });
  const other = { ...withSchema("2"), dockerfileHash: "b" };
  expect(describeChange(withSchema("1"), other)).toBe(
    "expect.schema changed, files of its image changed",
  );
});

const cluster = '[cluster]\nengine = "swarm"\naddress = "a:1"\n';

test.each([
  [
    usualProject,
    `workQueueSize = 5\ntimezone = "UTC"\n[local]\ntimeout = 60\n${usualProject
      .replace("[models.cheap]", "[models.other]")
      .replace("sonnet", "opus")
      .replace('[webhooks.hub]\ntype = "github"', '[webhooks.hub]\ntype = "sentry"')}`,
    '[models.main] changed, [models.cheap] removed, [models.other] added, local.timeout 900 → 60, [webhooks.hub] changed, workQueueSize 100 → 5, timezone "Europe/Berlin" → "UTC"',
  ],
  ["", cluster, "[cluster] added"],
  [cluster, "", "[cluster] removed"],
  [cluster, `${cluster}reserveMemory = "1g"`, 'cluster.reserveMemory "256m" → "1g"'],
  ["", '[heartbeat]\nurl = "https://a.example/key"', "[heartbeat] changed"],
])("describeProjectChange from %j to %j reports: %s", (before, after, text) => {
  const change = describeProjectChange(project(before), project(after));
  expect(change).toEqual({ text, needsRestart: false });
});

test.each([
  ["port = 9090", "gateway.port 8080 → 9090"],
  ['host = "0.0.0.0"', 'gateway.host "127.0.0.1" → "0.0.0.0"'],
])("describeProjectChange says that a restart is needed for %s", (line, text) => {
  const change = describeProjectChange(project(""), project(`[gateway]\n${line}`));
  expect(change).toEqual({ text, needsRestart: true });
});
