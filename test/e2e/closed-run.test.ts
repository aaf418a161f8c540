import type { AgentHosts, HostAllowed } from "../../src/foundation/contracts/run-hosts.ts";
import type { RunView } from "../../src/interfaces/views/run-view.ts";
import { commandAgents, until } from "../helpers/command-agents.ts";
import { slowly, type LiveProject } from "../helpers/live-project.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";

vi.setConfig({ testTimeout: 120_000 });
const missing = whyNoNetwork();
if (missing !== null) process.stderr.write(`skipped: closed runs of host users (${missing})\n`);

/** The run's network interfaces and its proxy, in one line. */
const look = `echo "$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n') $(echo $HTTPS_PROXY | sed 's/:[0-9a-f]*@.*/@/')"`;
const closed = { outcome: "succeeded", value: "lo http://al@" };

async function closedAgents(
  given: (dir: string) => Readonly<Record<string, string>>,
): Promise<LiveProject> {
  const project = await commandAgents(given);
  await project.append("config.toml", '\n[local]\nnetwork = "none"\n');
  return project;
}

describe.skipIf(missing !== null)("host users in a project without a network", () => {
  test("runs have a closed network until the agent opens it, also in al run and when adopted", async () => {
    const project = await closedAgents((dir) => ({
      looker: `al-return "$(${look})"`,
      waiter: `touch ${dir}/begun; ${until(`${dir}/go`)}; rlock demo:x && al-return "$(${look})"`,
    }));
    const run = async (): Promise<unknown> =>
      JSON.parse(await project.print("run", "looker", "--json"));
    expect(await run()).toMatchObject(closed);
    await project.start();
    expect(await project.trigger("waiter")).toEqual([202]);
    expect(await run()).toMatchObject(closed);
    await expect.poll(() => project.read("begun").catch(() => null), slowly).toBe("");
    await project.crash();
    await project.write("go", "");
    await expect
      .poll(() => project.latest("waiter"), slowly)
      .toMatchObject({ ...closed, attempt: 1 });
    await project.append("agents/looker/config.toml", '[local]\nnetwork = "bridge"\n');
    await expect
      .poll(run, slowly)
      .toMatchObject({ value: expect.not.stringContaining("al@") as string });
  });

  /** A name that no resolver has. */
  const host = "api.denied.invalid";
  const ask = `curl -sS https://${host}/ 2>&1 || true`;

  test("denied hosts show in the run's log, its view and its agent's list; allowing one takes effect at once", async () => {
    const project = await closedAgents((dir) => ({
      asker: `${ask}; ${ask}; touch ${dir}/asked; ${until(`${dir}/go`)}; ${ask}`,
    }));
    await project.start();
    const hosts = () => project.json<AgentHosts>("/api/agents/asker/hosts");
    expect(await project.trigger("asker")).toEqual([202]);
    await expect
      .poll(hosts, slowly)
      .toMatchObject({ denied: [{ host, port: 443, attempts: 2, entry: host }] });
    const command = `al config asker --add network.allow=${host}`;
    const line = `${host}:443 denied: it is not in [network].allow. If the agent needs it: ${command}`;
    expect((await project.print("logs", "asker")).split(line)).toHaveLength(2);
    expect((await project.al("doctor")).stdout).toContain(`config asker --add network.allow`);

    const allowed = await project.post("/api/agents/asker/allow-host", { host });
    expect((await allowed.json()) as HostAllowed).toMatchObject({ entry: host, written: true });
    expect(await project.read("agents/asker/config.toml")).toContain(host);
    await expect.poll(hosts, slowly).toMatchObject({ denied: [{ entry: null }] });
    await project.write("go", "");
    await expect
      .poll(() => project.latest("asker"), slowly)
      .toMatchObject({ outcome: "succeeded" });
    const instanceId = (await project.latest("asker"))?.instanceId ?? "";
    const run = await project.json<RunView>(`/api/runs/${instanceId}`);
    const counts = run.hosts.map(({ denied, connections }) => `${denied} ${connections}`);
    expect(counts.sort()).toEqual(["not_allowed 2", "unresolved 1"]);
    expect(await project.print("show", instanceId)).toContain(
      `${host} is not in [network].allow, 2 times`,
    );
  });
});
