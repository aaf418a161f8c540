import { notClosedFindings } from "../../../src/interfaces/doctor/checks/network.ts";
import { anAgent } from "../../helpers/agents.ts";

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
