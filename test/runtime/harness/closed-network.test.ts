import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { bridgeKey } from "../../../src/foundation/contracts/bridge-key.ts";
import { aJob } from "./jobs.ts";
import type { JobOptions } from "./jobs.ts";
import { runOf } from "./run-entry.ts";

describe("a run whose network is closed", () => {
  let workDir: string;
  beforeEach(async () => {
    workDir = await mkdtemp(join(tmpdir(), "al-closed-run-"));
    onTestFinished(() => rm(workDir, { recursive: true, force: true }));
  });

  const variables = { HTTPS_PROXY: "http://user:passw0rd@proxy.test:3128", NO_PROXY: "intra.test" };
  const variablesOf = async (job: JobOptions, env: Record<string, string> = {}) => {
    const made = aJob(workDir, {
      network: { variables, certificates: null, closed: true },
      hooks: { pre: ["env > env; env"], post: [] },
      ...job,
    });
    const run = await runOf(made, env);
    expect(run.exitCode).toBe(0);
    const key = bridgeKey(made.channel?.token ?? "");
    expect(JSON.stringify(run.messages)).not.toContain(key);
    const lines = (await readFile(join(workDir, "env"), "utf8")).split("\n");
    const pairs = lines.map((line) => line.split(/=(.*)/s, 2) as [string, string]);
    return { key, found: Object.fromEntries(pairs) as Readonly<Partial<Record<string, string>>> };
  };

  it("has the bridge as the proxy of its commands, in place of the scheduler's", async () => {
    const { key, found } = await variablesOf({});
    const proxyUrl = found.HTTPS_PROXY;
    expect(proxyUrl).toMatch(new RegExp(`^http://al:${key}@127\\.0\\.0\\.1:\\d+$`));
    const names = ["HTTP_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    expect(names.map((name) => found[name])).toEqual(names.map(() => proxyUrl));
    const none = "localhost,127.0.0.1,[::1]";
    expect([found.NO_PROXY, found.no_proxy, found.NODE_USE_ENV_PROXY]).toEqual([none, none, "1"]);
    expect(found.GIT_SSH_COMMAND).toBe('ssh -o ProxyCommand="al-connect %h %p"');
    expect(JSON.stringify(found)).not.toContain("passw0rd");
  });

  it("has it in git's ssh for each of its keys", async () => {
    const { found } = await variablesOf({
      credentials: [
        {
          ...{ type: "git_ssh", instance: "default", env: {} },
          fields: { private_key: "k3y-of-default" },
          fileEnv: { GIT_SSH_COMMAND: "ssh -i '{private_key}'" },
        },
        {
          ...{ type: "git_ssh", instance: "work", env: {} },
          fields: { private_key: "k3y-of-work" },
          fileEnv: { GIT_SSH_WORK_COMMAND: "ssh -v -i '{private_key}'" },
        },
      ],
    });
    const end = ` -o ProxyCommand="al-connect %h %p"`;
    expect(found.GIT_SSH_COMMAND).toMatch(/^ssh -i '.*private_key' -o ProxyCommand/);
    expect(found.GIT_SSH_WORK_COMMAND?.endsWith(end)).toBe(true);
  });

  it("has the scheduler's proxies when its start could not close it", async () => {
    const { found } = await variablesOf({}, { AL_NETWORK: "open" });
    expect(found.HTTPS_PROXY).toBe(variables.HTTPS_PROXY);
    expect(found.ALL_PROXY).toBeUndefined();
    expect(found.GIT_SSH_COMMAND).toBeUndefined();
  });

  it("is open, whatever its start found, when its job does not close it", async () => {
    const open = { network: { variables, certificates: null } };
    const { found } = await variablesOf(open, { AL_NETWORK: "closed" });
    expect(found.HTTPS_PROXY).toBe(variables.HTTPS_PROXY);
  });
});
