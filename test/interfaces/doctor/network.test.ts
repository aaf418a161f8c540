import { notClosedFindings } from "../../../src/interfaces/doctor/checks/network.ts";
import { anAgent } from "../../helpers/agents.ts";
import { agentConfig, plainAgent } from "./fault.ts";
import { ward } from "./support.ts";

const found = async (check: string) =>
  (await ward.runChecks()).filter((finding) => finding.check === check);

describe("open networks", () => {
  test("one finding names the agents that the project opens, and its fix closes them", async () => {
    ward.write("agents/ops/config.toml", plainAgent);
    ward.write("agents/ops/SKILL.md", "Do it.\n");
    ward.edit("config.toml", "[gateway]", '[local]\nnetwork = "bridge"\n\n[gateway]');
    const [finding, ...others] = await found("network");
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: "warning", where: "config.toml [local]" });
    expect(finding?.what).toContain('the network of dev, ops is open (network = "bridge")');
    await ward.run(finding?.fix ?? "");
    expect(await found("network")).toEqual([]);
  });

  test.each([
    ["", /config dev --unset local\.network -p /],
    ['[local]\nnetwork = "lan"\n\n', /config dev --set local\.network=none -p /],
  ])("an agent's own setting has a fix of its own, with the project's %j", async (local, fix) => {
    ward.edit("config.toml", "[gateway]", `${local}[gateway]`);
    ward.edit(agentConfig, "[runtime]", '[local]\nnetwork = "bridge"\n\n[runtime]');
    const [finding] = await found("network");
    expect(finding?.fix).toMatch(fix);
    await ward.run(finding?.fix ?? "");
    expect(await found("network")).toEqual([]);
  });
});

describe("[network]", () => {
  test("hosts for a credential that no agent lists are a warning, for a listed one not", async () => {
    const lines =
      '[network.credentials]\ngithub_token = ["ghe.example.com"]\n"github_token:default" = ["a.example.com"]\nslack_bot_token = ["b.example.com"]\n\n[gateway]';
    ward.edit("config.toml", "[gateway]", lines);
    expect(await found("network")).toEqual([
      expect.objectContaining({
        severity: "warning",
        what: "no agent lists the credential slack_bot_token, so nothing is bound to these hosts",
      }),
    ]);
  });

  test("a note names each file with private hosts", async () => {
    ward.edit("config.toml", "[gateway]", '[network]\nallow = ["npm"]\n\n[gateway]');
    ward.edit(agentConfig, "[runtime]", '[network]\nallow = ["db.lan:5432 private"]\n\n[runtime]');
    expect(await found("network")).toEqual([
      expect.objectContaining({
        severity: "note",
        what: `${agentConfig} [network] opens hosts of private networks: db.lan:5432`,
      }),
    ]);
  });
});

const project = { local: { network: "none" }, network: null };
const agents = [anAgent("dev"), anAgent("strict", { network: { allow: [] } })];
const machine = { env: { PATH: process.env.PATH }, platform: "linux" } as const;

test("host users whose network can't be closed are an error with [network] and a warning without it", () => {
  const [error, warning] = notClosedFindings(agents, project, "not permitted", machine);
  expect(error).toMatchObject({ severity: "error", where: "not permitted" });
  expect(error?.what).toContain("no run of strict starts");
  expect(error?.fix).toMatch(/apparmor_restrict_unprivileged_userns=0.+type = "container"/);
  expect(warning).toMatchObject({ severity: "warning" });
  expect(warning?.what).toContain("the network of dev is open");
});

test("host users whose network can't be closed are no finding with an open network", () => {
  const open = { ...project, local: { network: "bridge" } };
  expect(notClosedFindings(agents, open, "not permitted", machine)).toEqual([]);
});

test("host users whose network can't be closed have another fix on other systems", () => {
  const [error] = notClosedFindings(agents, project, "?", { ...machine, platform: "darwin" });
  expect(error?.fix).toMatch(/^only Linux/);
});
