import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jobNetwork, networkOfRun } from "../../../src/runtime/runners/job-network.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** The settings from this environment, and the warnings about it. */
async function settings(env: NodeJS.ProcessEnv) {
  const warnings: string[] = [];
  return { network: await jobNetwork(env, (message) => void warnings.push(message)), warnings };
}

test("a run's job has no network settings if the scheduler has neither proxy nor certificates", async () =>
  expect(await settings({ PATH: "/bin", HTTPS_PROXY: " " })).toEqual({ warnings: [] }));

test("a run's job contains the scheduler's proxy variables in upper and lower case, and its CA certificates", async () => {
  const path = join(tempDir(), "ca.pem");
  await writeFile(path, "PEM");
  const variables = { HTTPS_PROXY: "http://p:1", no_proxy: "a.test" };
  const env = { ...variables, NODE_EXTRA_CA_CERTS: path, HOME: "/h" };
  const network = { variables, certificates: "PEM" };
  expect(await settings(env)).toEqual({ network, warnings: [] });
});

test("a run's job omits CA certificates that can't be read, with a warning", async () =>
  expect(await settings({ NODE_EXTRA_CA_CERTS: "/nonexistent/ca.pem" })).toEqual({
    warnings: [expect.stringContaining("/nonexistent/ca.pem cannot be read")],
  }));

const hostUser = { type: "host-user", runAs: "$USER" } as const;
const container = { type: "container", runAs: "$USER" } as const;
const all = { variables: { HTTPS_PROXY: "http://user:pw@p:1" }, certificates: "PEM" };
const withoutProxies = { variables: {}, certificates: "PEM", closed: true };
const closed = { variables: {}, certificates: null, closed: true };

test.each([
  ["all settings for an open run", all, "open", hostUser, all],
  ["certificates alone for a closed run", all, "closed", hostUser, withoutProxies],
  [
    "certificates alone for a container that is closed if possible",
    all,
    "closed-if-possible",
    container,
    withoutProxies,
  ],
  [
    "all settings for a host user that is closed if possible",
    all,
    "closed-if-possible",
    hostUser,
    { ...all, closed: true },
  ],
  ["only a mark for a closed run without settings", undefined, "closed", container, closed],
  ["undefined for an open run without settings", undefined, "open", container, undefined],
] as const)("networkOfRun returns %s", (_name, given, network, runtime, expected) =>
  expect(networkOfRun(given, network, runtime)).toEqual(expected),
);
