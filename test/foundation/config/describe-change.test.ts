import { describeProjectChange } from "../../../src/foundation/config/describe-project-change.ts";
import { project, usualProject, agent, usualAgent } from "./samples.ts";
import { describeChange } from "../../../src/foundation/config/agent-view.ts";

/** What is said when the agent's files change from the usual ones. */
function change(config: string, skill?: string, projectText = usualProject): string {
  const given = skill === undefined ? { projectText } : { skill, projectText };
  return describeChange(agent(usualAgent), agent(config, given));
}

test("describeChange shows the old and the new value in one line", () => {
  const config = `${usualAgent.replace("0 9", "0 8")}scale = 2\ncatchUp = "latest"`;
  expect(change(config)).toBe(
    'schedule "0 9 * * *" → "0 8 * * *", catchUp "none" → "latest", scale 1 → 2',
  );
});

test("describeChange is empty when nothing changed", () =>
  expect(change(`# a comment\n${usualAgent}`)).toBe(""));

test("describeChange names keys as config.toml does", () => {
  const config = `${usualAgent.replace("[]", '["github_token"]')}timeout = 5\nmaxWorkQueueSize = 6\nwaitTimeout = 7`;
  expect(change(config)).toBe(
    'credentials [] → ["github_token"], timeout 900 → 5, maxWorkQueueSize 100 → 6, waitTimeout 1800 → 7',
  );
});

test("describeChange omits values that are long or private", () => {
  const config = `${usualAgent}[[webhooks]]\nsource = "hub"\n[hooks]\npre = ["x"]\n[params]\na = "b"`;
  const skill = "---\nname: Other\ndescription: New\n---\nDo that.";
  expect(change(config, skill)).toBe(
    'name "Developer" → "Other", description changed, SKILL.md changed, webhooks changed, hooks changed, params changed',
  );
});

test("describeChange shows a changed harness, runtime and OS user", () => {
  const config = `${usualAgent}[harness]\ntype = "llm-cli"\n[runtime]\ntype = "host-user"`;
  expect(change(config)).toBe(
    'harness.type "pi" → "llm-cli", runtime.type "container" → "host-user"',
  );
  expect(change(`${usualAgent}[runtime]\nrun_as = "me"`)).toBe('runtime.run_as "al-agent" → "me"');
  expect(describeChange(agent(usualAgent), { ...agent(usualAgent), dockerfileHash: "a" })).toBe(
    "files of its image changed",
  );
});

const projectChange = (text: string) => describeProjectChange(project(usualProject), project(text));

test("describeProjectChange names the keys and tables that changed", () => {
  const text = `workQueueSize = 5\ntimezone = "UTC"\n[local]\ntimeout = 60\n${usualProject
    .replace("[models.cheap]", "[models.other]")
    .replace("sonnet", "opus")
    .replace('[webhooks.hub]\ntype = "github"', '[webhooks.hub]\ntype = "sentry"')}`;
  expect(projectChange(text)).toEqual({
    text: '[models.main] changed, [models.cheap] removed, [models.other] added, local.timeout 900 → 60, [webhooks.hub] changed, workQueueSize 100 → 5, timezone "Europe/Berlin" → "UTC"',
    needsRestart: false,
  });
});

test.each([
  ["port = 9090", "gateway.port 8080 → 9090"],
  ['host = "0.0.0.0"', 'gateway.host "127.0.0.1" → "0.0.0.0"'],
  ['allowedHosts = ["a.example"]', 'gateway.allowedHosts [] → ["a.example"]'],
  ["trustProxy = true", "gateway.trustProxy false → true"],
  ["maxBodyBytes = 2048", "gateway.maxBodyBytes 26214400 → 2048"],
])("describeProjectChange says that a restart is needed for %s", (line, text) => {
  expect(projectChange(`${usualProject}[gateway]\n${line}`)).toEqual({ text, needsRestart: true });
});
