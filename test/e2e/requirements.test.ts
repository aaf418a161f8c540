import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ownUser } from "../helpers/command-agents.ts";
import { freePort } from "../helpers/free-port.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";

let project: LiveProject;
beforeEach(async () => void (project = await LiveProject.hello()));

test("an agent with a missing credential is blocked, with a suggestion, until the credential is stored, and again after its removal", async () => {
  const store = (type: string) => project.store(type, { token: "sk-ant-of-the-test" });
  await store("acme_token");
  await project.write("agents/dev/SKILL.md", "Be.\n");
  const config = `callable = true\nmodels = ["scripted"]\ncredentials = ["acme_tokn"]\n${ownUser}`;
  await project.write("agents/dev/config.toml", config);
  const { waitForOutput } = await project.start();
  await waitForOutput(/dev .*credential acme_tokn is missing/);
  const blocked = { state: "blocked", blockedBy: "requirement", enabled: true };
  expect(await project.agent("dev")).toMatchObject({
    ...blocked,
    error: expect.stringMatching(
      /^agents\/dev\/config\.toml {2}credential acme_tokn is missing: .*did you mean "acme_token"\?.*al creds add acme_tokn --field <field>/,
    ) as string,
  });
  expect((await project.al("run", "dev")).stdout).toContain("acme_tokn is missing");
  expect(await project.latest("dev")).toMatchObject({ outcome: "rejected" });

  await store("acme_tokn");
  const agent = expect.poll(() => project.agent("dev"), slowly);
  await agent.toMatchObject({ state: "idle", error: null });
  await waitForOutput(/dev .*all requirements of its runs are met/);
  await project.print("run", "dev");
  await rm(join(project.home, "credentials/acme_tokn"), { recursive: true });
  await expect.poll(() => project.agent("dev"), slowly).toMatchObject(blocked);
});

test("an edited gateway.port takes effect at once while the gateway is closed, later only after a restart", async () => {
  const [before, after, later] = [await freePort(), await freePort(), await freePort()];
  await project.edit("config.toml", "port = 8080", `port = ${before}`);
  const { waitForOutput, output } = await project.start({ webUi: false, anyPort: false });
  await project.edit("config.toml", `${before}`, `${after}`);
  await waitForOutput(new RegExp(`gateway\\.port ${before} → ${after}`));
  await project.append("config.toml", '\n[webhooks.hub]\ntype = "github"\nallowUnsigned = true\n');
  const health = () => fetch(`http://localhost:${after}/health`);
  await waitForOutput(new RegExp(`the gateway listens at http://localhost:${after}`));
  expect((await health()).status).toBe(200);
  expect(output()).not.toContain("changes with the next start");
  await project.edit("config.toml", `${after}`, `${later}`);
  await waitForOutput(/changes of \[gateway\] take effect at the next start/);
  expect((await health()).status).toBe(200);
});
