import { notClosedFindings } from "../../../src/interfaces/doctor/checks/network.ts";
import { anAgent } from "../../helpers/agents.ts";
import { plainAgent } from "./fault.ts";
import { agentConfig, ward } from "./support.ts";

const found = () => ward.found("network");

describe("the doctor", () => {
  test("names the agents whose network the project's config opens, with a fix that closes it", async () => {
    ward.write("agents/ops/config.toml", plainAgent);
    ward.write("agents/ops/SKILL.md", "Do it.\n");
    ward.toProject('[local]\nnetwork = "bridge"');
    const findings = await found();
    expect(findings).toMatchObject([{ severity: "warning", where: "config.toml [local]" }]);
    expect(findings[0]?.what).toContain('the network of dev, ops is open (network = "bridge")');
    await ward.fix(findings[0]);
    expect(await found()).toEqual([]);
  });

  test.each([
    ["", /config dev --unset local\.network -p /],
    ['[local]\nnetwork = "lan"', /config dev --set local\.network=none -p /],
  ])(
    "closes the network of an agent whose config opens it, in a project with %j",
    async (local, fix) => {
      ward.toProject(local);
      ward.toAgent('[local]\nnetwork = "bridge"');
      const [finding] = await found();
      expect(finding?.fix).toMatch(fix);
      await ward.fix(finding);
      expect(await found()).toEqual([]);
    },
  );
});

describe("the doctor", () => {
  test("warns of [network] hosts for a credential that no agent lists", async () => {
    ward.toProject(
      '[network.credentials]\ngithub_token = ["ghe.example.com"]\n"github_token:default" = ["a.example.com"]\nslack_bot_token = ["b.example.com"]',
    );
    expect(await found()).toMatchObject([
      {
        severity: "warning",
        what: "no agent lists the credential slack_bot_token, so nothing is bound to these hosts",
      },
    ]);
  });

  test("notes each file with private hosts in [network]", async () => {
    ward.toProject('[network]\nallow = ["npm"]');
    ward.toAgent('[network]\nallow = ["db.lan:5432 private"]');
    expect(await found()).toMatchObject([
      {
        severity: "note",
        what: `${agentConfig} [network] opens hosts of private networks: db.lan:5432`,
      },
    ]);
  });
});

const agents = [anAgent("dev"), anAgent("strict", { network: { allow: [] } })];
const notClosed = (network: string, platform: NodeJS.Platform) =>
  notClosedFindings(agents, { local: { network }, network: null }, "not permitted", {
    env: { PATH: process.env.PATH },
    platform,
  });

test("the doctor reports host-user agents whose network can't be closed as an error with [network], else as a warning", () => {
  const [error, warning] = notClosed("none", "linux");
  expect(error).toMatchObject({ severity: "error", where: "not permitted" });
  expect(error?.what).toContain("no run of strict starts");
  expect(error?.fix).toMatch(/apparmor_restrict_unprivileged_userns=0.+type = "container"/);
  expect(warning).toMatchObject({ severity: "warning" });
  expect(warning?.what).toContain("the network of dev is open");
});

test("the doctor accepts host-user agents whose network is open by config", () =>
  expect(notClosed("bridge", "linux")).toEqual([]));

test("the doctor reports that only Linux can close the network of host-user agents", () =>
  expect(notClosed("none", "darwin")[0]?.fix).toMatch(/^only Linux/));
