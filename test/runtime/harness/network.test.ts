import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { testCertificate } from "../../helpers/certificate.ts";
import { forwardProxy } from "../../helpers/forward-proxy.ts";
import type { ForwardProxy } from "../../helpers/forward-proxy.ts";
import { fakeProvider, saying } from "./fake-provider.ts";
import type { FakeProvider } from "./fake-provider.ts";
import { aJob, aScripted } from "./jobs.ts";
import { logsOf, runOf } from "./run-entry.ts";

describe("a run whose scheduler reaches the network through a proxy", () => {
  let workDir: string;
  let provider: FakeProvider;
  let proxy: ForwardProxy;
  beforeEach(async () => {
    workDir = await mkdtemp(join(tmpdir(), "al-network-"));
    provider = await fakeProvider(saying("Done."));
    proxy = await forwardProxy(Number(new URL(provider.baseUrl).port));
    onTestFinished(async () => {
      await Promise.all([provider.close(), proxy.close()]);
      await rm(workDir, { recursive: true, force: true });
    });
  });

  const variables = () => ({
    HTTPS_PROXY: proxy.url,
    HTTP_PROXY: proxy.url,
    NO_PROXY: "intra.test",
  });
  it("asks its models without it: the scheduler does that", async () => {
    const network = { variables: variables(), certificates: null };
    const run = await runOf(aJob(workDir, { models: [aScripted([{ text: "Here." }])], network }));
    expect(logsOf(run, "said").map(({ msg }) => msg)).toEqual(["Here."]);
    expect(proxy.seen).toEqual([]);
  });

  it("hands the variables on to its commands, and shows no password", async () => {
    const hook = 'env > env; cat "$NODE_EXTRA_CA_CERTS" > ca; env';
    const run = await runOf(
      aJob(workDir, {
        network: { variables: variables(), certificates: testCertificate.cert },
        hooks: { pre: [hook], post: [] },
      }),
    );
    expect(run.exitCode).toBe(0);
    const lines = (await readFile(join(workDir, "env"), "utf8")).split("\n");
    expect(lines).toContain(`HTTPS_PROXY=${proxy.url}`);
    expect(lines).toContain("NO_PROXY=intra.test,localhost,127.0.0.1,[::1]");
    expect(await readFile(join(workDir, "ca"), "utf8")).toBe(testCertificate.cert);
    expect(JSON.stringify(run.messages)).toContain("user:[redacted]@");
  });

  it("prefers what a credential of its agent sets", async () => {
    const own = { type: "t", instance: "default", fields: {}, env: { HTTPS_PROXY: "http://own" } };
    const hooks = { pre: ['test "$HTTPS_PROXY" = http://own'], post: [] };
    const network = { variables: variables(), certificates: null };
    const run = await runOf(aJob(workDir, { network, hooks, credentials: [own] }));
    expect(run.exitCode).toBe(0);
  });
});
