import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ownUser } from "../helpers/command-agents.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { freePort } from "../helpers/free-port.ts";

let project: LiveProject;
beforeEach(async () => void (project = await LiveProject.hello()));

/** Longer than the scheduler takes to look at credentials again. */
const inTime = { timeout: 15_000 };

async function addAgent(name: string, config: string): Promise<void> {
  await project.write(`agents/${name}/SKILL.md`, `---\nname: ${name}\n---\nBe.\n`);
  await project.write(`agents/${name}/config.toml`, `callable = true\n${config}\n${ownUser}`);
}

const store = (field: string) => project.store(field, "sk-ant-of-the-test");
const agent = (name: string) => project.agent(name);
const lastRun = async (name: string) => (await project.history(`agent=${name}`))[0];

test("a misspelt credential is an error with a suggestion until it is stored", async () => {
  await store("acme_token/default/token");
  await addAgent("dev", 'models = ["scripted"]\ncredentials = ["acme_tokn"]');
  const scheduler = await project.start();
  await scheduler.waitForOutput(/dev .*credential acme_tokn is missing/);
  const row = await agent("dev");
  expect(row).toMatchObject({
    state: "blocked",
    blockedBy: "requirement",
    warning: null,
    enabled: true,
  });
  expect(row?.error).toMatch(/^agents\/dev\/config\.toml {2}credential acme_tokn is missing: /);
  expect(row?.error).toContain('did you mean "acme_token"?');
  expect(row?.error).toContain("al creds add acme_tokn --field <field>");
  const stdout = await project.print("stat");
  expect(stdout).toMatch(/^dev +blocked: requirement /m);
  expect(stdout).toMatch(/^error dev: agents\/dev\/config\.toml {2}credential acme_tokn/m);
  expect(stdout).toMatch(/^hello +(idle|running) /m);
  expect(await project.print("logs", "dev")).toContain("acme_tokn is missing");

  expect((await project.al("run", "dev")).stderr).toContain("acme_tokn is missing");
  expect(await lastRun("dev")).toMatchObject({ outcome: "rejected" });

  await store("acme_tokn/default/token");
  await expect.poll(() => agent("dev"), inTime).toMatchObject({ state: "idle", error: null });
  await scheduler.waitForOutput(/dev .*all requirements of its runs are met/);
  expect((await project.al("run", "dev")).code).toBe(0);

  await rm(join(project.home, "credentials/acme_tokn"), { recursive: true });
  await expect
    .poll(() => agent("dev"), inTime)
    .toMatchObject({ state: "blocked", blockedBy: "requirement" });
});

test("an edited port takes effect until webhooks open the gateway at it, then only at the next start", async () => {
  const [before, after, later] = [await freePort(), await freePort(), await freePort()];
  await project.edit("config.toml", "port = 8080", `port = ${before}`);
  const { waitForOutput, output } = await project.start({ webUi: false, anyPort: false });
  await project.edit("config.toml", `${before}`, `${after}`);
  await waitForOutput(new RegExp(`gateway\\.port ${before} → ${after}`));
  await project.append("config.toml", '\n[webhooks.hub]\ntype = "github"\nallowUnsigned = true\n');
  const url = `http://localhost:${after}`;
  await waitForOutput(new RegExp(`the gateway listens at ${url}`));
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect(output()).not.toContain("changes with the next start");
  await project.edit("config.toml", `${after}`, `${later}`);
  await waitForOutput(/\[gateway\] changes with the next start/);
  expect((await fetch(`${url}/health`)).status).toBe(200);
});
