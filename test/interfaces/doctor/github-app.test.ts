import { newAppKey, startGithub } from "../../helpers/github-server.ts";
import { agentConfig, ward } from "./support.ts";

test("the doctor checks that a GitHub App has the permissions and repositories that an agent lists", async () => {
  const github = await startGithub();
  onTestFinished(() => github.stop());
  await ward.credential("github_app", "app_id", github.id);
  await ward.credential("github_app", "private_key", github.pem);
  await ward.credential("github_app", "api_url", github.url);
  ward.edit(agentConfig, '["github_token"]', '["github_app"]');
  ward.toAgent('[githubApp]\npermissions = { contents = "write" }');
  const found = () => ward.found("github app");
  const good = { severity: "ok", what: "the GitHub App 4711 has what dev lists" };
  const bad = { severity: "error", where: "agents/dev/config.toml [githubApp]" };
  expect(await found()).toMatchObject([good]);
  ward.edit(agentConfig, "permissions", 'repos = ["acme/website", "acme/api"]\npermissions');
  expect(await found()).toMatchObject([good]);
  ward.edit(agentConfig, '"acme/api"', '"acme/other"');
  const what = "the GitHub App 4711 (github_app) is not installed on acme/other";
  expect(await found()).toMatchObject([{ ...bad, what }]);
  ward.edit(agentConfig, '"acme/website", "acme/other"', '"umbrella/secrets"');
  expect(await found()).toMatchObject([
    { ...bad, what: "the GitHub App 4711 lacks contents: write" },
  ]);
  await ward.credential("github_app", "private_key", newAppKey().pem);
  expect(await found()).toMatchObject([
    { ...bad, fix: expect.stringMatching(/^Check that app_id 4711 and private_key/) as string },
  ]);
});
