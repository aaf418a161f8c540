import { existsSync } from "node:fs";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commandAgents, latestOf, startAgents, until } from "../helpers/command-agents.ts";
import { runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";

const missing = whyNoNetwork();
if (missing !== null) process.stderr.write(`skipped: closed runs of host users (${missing})\n`);

/** What a run sees of the network, in one line. */
const look = `echo "$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n') $(echo $HTTPS_PROXY | sed 's/:[0-9a-f]*@.*/@/')"`;
const closed = "lo http://al@";

describe.skipIf(missing !== null)("runs of host users in a project without a network", () => {
  let project: TestProject;
  let scheduler: TestScheduler | null = null;
  beforeEach(async () => {
    project = await commandAgents((dir) => ({
      looker: `al-return "$(${look})"`,
      waiter: `touch ${dir}/begun; ${until(`${dir}/go`)}; rlock demo:x && al-return "$(${look})"`,
    }));
    await appendFile(join(project.dir, "config.toml"), '\n[local]\nnetwork = "none"\nwarm = 1\n');
  });
  afterEach(async () => {
    await scheduler?.stop();
    scheduler = null;
    await project.remove();
  });

  it("have a closed one, with a model that answers, prewarmed or not, by al run too", async () => {
    const alone = await runAl(project, ["run", "looker", "--json"]);
    expect(JSON.parse(alone.stdout)).toMatchObject({ outcome: "succeeded", value: closed });
    scheduler = await startTestScheduler(project);
    const first = await runAl(project, ["run", "looker", "--json"]);
    const second = await runAl(project, ["run", "looker", "--json"]);
    for (const { stdout } of [first, second]) {
      expect(JSON.parse(stdout)).toMatchObject({ outcome: "succeeded", value: closed });
    }
  }, 120_000);

  it("keep it when their scheduler is killed and the next one adopts them", async () => {
    scheduler = await startTestScheduler(project);
    expect(await startAgents(scheduler, "waiter")).toEqual([202]);
    await scheduler.waitForOutput(/run started/);
    await expect.poll(() => begun(project), { timeout: 40_000 }).toBe(true);
    await scheduler.kill();
    scheduler = await startTestScheduler(project);
    const next = scheduler;
    await writeFile(join(project.dir, "go"), "");
    await expect
      .poll(() => latestOf(next, "waiter"), { timeout: 60_000 })
      .toMatchObject({ outcome: "succeeded", attempt: 1, value: closed });
  }, 120_000);

  it("have the machine's when the agent opens it, at its next run", async () => {
    scheduler = await startTestScheduler(project);
    await writeFile(join(project.dir, "agents/looker/config.toml"), opened);
    await expect
      .poll(async () => valueOf(await runAl(project, ["run", "looker", "--json"])), {
        timeout: 60_000,
      })
      .not.toContain("http://al@");
  }, 120_000);
});

const opened =
  'models = ["looker"]\ncredentials = []\ncallable = true\n[runtime]\ntype = "host-user"\nrun_as = "$USER"\n[local]\nnetwork = "bridge"\n';

function valueOf({ stdout }: { readonly stdout: string }): unknown {
  return (JSON.parse(stdout) as { readonly value?: unknown }).value;
}

function begun({ dir }: TestProject): boolean {
  return existsSync(join(dir, "begun"));
}
