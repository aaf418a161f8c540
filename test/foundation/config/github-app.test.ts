import { agentFacts } from "../../../src/foundation/config/agent-view.ts";
import { agent, agentChange, refusal, said, usualAgent } from "./samples.ts";

const withApp = usualAgent.replace("credentials = []", 'credentials = ["github_app:bot"]');
const scoped = (text: string, config = withApp) => `${config}[githubApp]\n${text}\n`;
const permissions = 'permissions = { contents = "write", pull_requests = "read" }';

test("[githubApp] returns permissions and repositories, which are on the agent's page, or null if the table is missing", () => {
  expect(agent(usualAgent).githubApp).toBeNull();
  const read = agent(scoped(`${permissions}\nrepos = ["acme/website"]`));
  expect(read.githubApp).toEqual({
    permissions: { contents: "write", pull_requests: "read" },
    repos: ["acme/website"],
  });
  const facts = agentFacts(read, () => null).find(({ label }) => label === "GitHub App");
  expect(facts?.values).toEqual(["contents: write", "pull_requests: read", "acme/website"]);
  expect(agent(scoped(permissions)).githubApp?.repos).toEqual([]);
});

test.each([
  ['repos = ["acme/website"]', /config\.toml:.*githubApp.permissions is missing/],
  ["permissions = {}", /:5:15 .*githubApp.permissions is .*expected a table of permissions/],
  ['permissions = { contents = "all" }', /githubApp.permissions.contents is "all"/],
  [`${permissions}\nrepos = ["website"]`, /githubApp.repos\[0\] is "website"/],
  [`${permissions}\nrepos = ["acme/.."]`, /githubApp.repos\[0\]/],
  [
    `${permissions}\nrepos = ["acme/a", "Acme/b", "umbrella/c"]`,
    /:6:9 {2}githubApp.repos are of acme and umbrella, and a token is for one owner; leave/,
  ],
])("[githubApp] refuses %s", (text, message) => {
  expect(refusal(agentChange(scoped(text)))).toMatch(message);
});

test("a github_app without [githubApp] is refused, and the table without the credential has no effect", () => {
  expect(refusal(agentChange(withApp))).toMatch(
    /:2:16 {2}github_app needs the permissions of its tokens; add \[githubApp\] with permissions = /,
  );
  expect(said(agentChange(scoped(permissions, usualAgent)))).toEqual([
    expect.stringMatching(/^warning: .*githubApp has no effect, as credentials does not list/),
  ]);
});
