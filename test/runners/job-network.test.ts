import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { jobNetwork } from "../../src/runners/job-network.ts";

const noWarning = (message: string) => {
  throw new Error(message);
};

it("is absent from jobs where the scheduler has neither proxy nor certificates", async () => {
  expect(await jobNetwork({ PATH: "/bin", HTTPS_PROXY: " " }, noWarning)).toBeUndefined();
});

it("has the proxies in either case, and the certificates themselves", async () => {
  const dir = await mkdtemp(join(tmpdir(), "al-ca-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
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

it("goes without certificates that can't be read, and warns of them", async () => {
  const warnings: string[] = [];
  const env = { NODE_EXTRA_CA_CERTS: "/nonexistent/ca.pem" };
  expect(await jobNetwork(env, (message) => void warnings.push(message))).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining("/nonexistent/ca.pem cannot be read")]);
});
