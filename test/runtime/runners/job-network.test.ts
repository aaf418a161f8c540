import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jobNetwork, networkOfRun } from "../../../src/runtime/runners/job-network.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** The settings from this environment, and the warnings about it. */
async function settings(env: NodeJS.ProcessEnv) {
  const warnings: string[] = [];
  return { network: await jobNetwork(env, (message) => void warnings.push(message)), warnings };
}

test("a job has no network settings if the scheduler has neither proxy nor certificates", async () =>
  expect(await settings({ PATH: "/bin", HTTPS_PROXY: " " })).toEqual({ warnings: [] }));

test("a job has the proxies in either case, and the certificates themselves", async () => {
  const path = join(tempDir(), "ca.pem");
  await writeFile(path, "PEM");
  const variables = { HTTPS_PROXY: "http://p:1", no_proxy: "a.test" };
  const env = { ...variables, NODE_EXTRA_CA_CERTS: path, HOME: "/h" };
  const network = { variables, certificates: "PEM" };
  expect(await settings(env)).toEqual({ network, warnings: [] });
});

test("a job omits certificates that can't be read, with a warning", async () =>
  expect(await settings({ NODE_EXTRA_CA_CERTS: "/nonexistent/ca.pem" })).toEqual({
    warnings: [expect.stringContaining("/nonexistent/ca.pem cannot be read")],
  }));

const hostUser = { type: "host-user", runAs: "$USER" } as const;
const container = { type: "container", runAs: "$USER" } as const;
const all = { variables: { HTTPS_PROXY: "http://user:pw@p:1" }, certificates: "PEM" };
const withoutProxies = { variables: {}, certificates: "PEM", closed: true };
const closed = { variables: {}, certificates: null, closed: true };

test.each([
  ["an open one has all of it", all, "open", hostUser, all],
  ["a closed one has no use for the proxies", all, "closed", hostUser, withoutProxies],
  ["neither has a container", all, "closed-if-possible", container, withoutProxies],
  [
    "one that may turn out open has both",
    all,
    "closed-if-possible",
    hostUser,
    { ...all, closed: true },
  ],
  ["a closed one is marked without other settings", undefined, "closed", container, closed],
  ["an open one has none without other settings", undefined, "open", container, undefined],
] as const)("the network settings of a run: %s", (_name, given, network, runtime, expected) =>
  expect(networkOfRun(given, network, runtime)).toEqual(expected),
);
