import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentHosts, HostAllowed } from "../../src/foundation/contracts/run-hosts.ts";
import type { RunView } from "../../src/foundation/contracts/run-view.ts";
import { commandAgents, latestOf, startAgents, until } from "../helpers/command-agents.ts";
import { runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";

const missing = whyNoNetwork();
if (missing !== null) process.stderr.write(`skipped: hosts that runs are denied (${missing})\n`);

/** A name that no resolver has. */
const host = "api.denied.invalid";
const ask = `curl -sS https://${host}/ 2>&1 || true`;

describe.skipIf(missing !== null)("hosts that a run is denied", () => {
  let project: TestProject;
  let scheduler: TestScheduler | null = null;
  beforeEach(async () => {
    project = await commandAgents((dir) => ({
      asker: `${ask}; ${ask}; touch ${dir}/asked; ${until(`${dir}/go`)}; ${ask}`,
    }));
    await appendFile(join(project.dir, "config.toml"), '\n[local]\nnetwork = "none"\n');
  });
  afterEach(async () => {
    await scheduler?.stop();
    scheduler = null;
    await project.remove();
  });

  it("are in its log, its view and its agent's list, and one that is allowed helps it at once", async () => {
    scheduler = await startTestScheduler(project);
    const { api } = scheduler;
    const hosts = async () => (await (await api("/api/agents/asker/hosts")).json()) as AgentHosts;
    expect(await startAgents(scheduler, "asker")).toEqual([202]);
    await expect
      .poll(hosts, { timeout: 60_000 })
      .toMatchObject({ denied: [{ host, port: 443, attempts: 2, entry: host }] });
    const command = `al config asker --add network.allow=${host}`;
    const logs = await runAl(project, ["logs", "asker"]);
    const line = `${host}:443 denied: it is not in [network].allow. If the agent needs it: ${command}`;
    expect(logs.stdout.split(line)).toHaveLength(2);
    expect((await runAl(project, ["doctor"])).stdout).toContain(`config asker --add network.allow`);

    const allowed = await api("/api/agents/asker/allow-host", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ host }),
    });
    expect((await allowed.json()) as HostAllowed).toMatchObject({ entry: host, written: true });
    expect(await readFile(join(project.dir, "agents/asker/config.toml"), "utf8")).toContain(host);
    await expect.poll(hosts, { timeout: 20_000 }).toMatchObject({ denied: [{ entry: null }] });
    await writeFile(join(project.dir, "go"), "");
    await expect
      .poll(() => scheduler && latestOf(scheduler, "asker"), { timeout: 60_000 })
      .toMatchObject({ outcome: "succeeded" });
    const instanceId = (await latestOf(scheduler, "asker"))?.instanceId ?? "";
    const run = (await (await api(`/api/runs/${instanceId}`)).json()) as RunView;
    const counts = run.hosts.map(({ denied, connections }) => `${denied} ${connections}`);
    expect(counts.sort()).toEqual(["not_allowed 2", "unresolved 1"]);
    const shown = await runAl(project, ["show", instanceId]);
    expect(shown.stdout).toContain(`${host} is not in [network].allow, 2 times`);
  }, 180_000);
});
