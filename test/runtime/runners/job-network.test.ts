import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jobNetwork, networkOfRun } from "../../../src/runtime/runners/job-network.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const noWarning = (message: string) => {
  throw new Error(message);
};

test("a job has no network settings if the scheduler has neither proxy nor certificates", async () =>
  expect(await jobNetwork({ PATH: "/bin", HTTPS_PROXY: " " }, noWarning)).toBeUndefined());

test("a job has the proxies in either case, and the certificates themselves", async () => {
  const dir = tempDir();
  const path = join(dir, "ca.pem");
  await writeFile(path, "PEM");
  const env = {
    HTTPS_PROXY: "http://p:1",
    no_proxy: "a.test",
    NODE_EXTRA_CA_CERTS: path,
    HOME: "/h",
  };
  expect(await jobNetwork(env, noWarning)).toEqual({
    variables: { HTTPS_PROXY: "http://p:1", no_proxy: "a.test" },
    certificates: "PEM",
  });
});

test("a job omits certificates that can't be read, with a warning", async () => {
  const warnings: string[] = [];
  const env = { NODE_EXTRA_CA_CERTS: "/nonexistent/ca.pem" };
  expect(await jobNetwork(env, (message) => void warnings.push(message))).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining("/nonexistent/ca.pem cannot be read")]);
});

const hostUser = { type: "host-user", runAs: "$USER" } as const;
const container = { type: "container", runAs: "$USER" } as const;
const ofScheduler = { variables: { HTTPS_PROXY: "http://user:pw@p:1" }, certificates: "PEM" };
const withoutProxies = { variables: {}, certificates: "PEM", closed: true };

test.each([
  ["an open one has all of it", "open", hostUser, ofScheduler],
  ["a closed one has no use for the proxies", "closed", hostUser, withoutProxies],
  ["neither has a container", "closed-if-possible", container, withoutProxies],
  [
    "one that may turn out open has both",
    "closed-if-possible",
    hostUser,
    { ...ofScheduler, closed: true },
  ],
] as const)("the network settings of a run: %s", (_name, network, runtime, expected) => {
  expect(networkOfRun(ofScheduler, network, runtime)).toEqual(expected);
});

test("a closed run is marked as closed even without other settings", () => {
  const closed = { variables: {}, certificates: null, closed: true };
  expect(networkOfRun(undefined, "closed", container)).toEqual(closed);
  expect(networkOfRun(undefined, "open", container)).toBeUndefined();
});
