import type { AgentHosts } from "../../src/foundation/contracts/run-hosts.ts";
import type { RunView } from "../../src/runtime/runs/run-view.ts";
import { commandAgents, until } from "../helpers/command-agents.ts";
import { slowly } from "../helpers/live-project.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";

const missing = whyNoNetwork();
noteSkipped("closed runs of host users", missing);

/** A name that no resolver has. */
const host = "api.denied.invalid";
const ask = `curl -sS https://${host}/ 2>&1 || true`;
/** The run's network interfaces and its proxy, in one line. */
const look = `al-return "$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n') $(echo $HTTPS_PROXY | sed 's/:[0-9a-f]*@.*/@/')"`;
const closed = { outcome: "succeeded", value: "lo http://al@" };

test.skipIf(missing !== null)(
  "a run in a closed network reaches only listed hosts; a denied host is shown, and can be allowed during the run, also after adoption",
  async () => {
    const project = await commandAgents((dir) => ({
      looker: look,
      asker: `${ask}; ${ask}; touch ${dir}/asked; ${until(`${dir}/go`)}; ${ask}; ${look}`,
    }));
    await project.append("config.toml", '\n[local]\nnetwork = "none"\n');
    await project.start();
    expect(await project.trigger("asker")).toEqual([202]);
    const hosts = () => project.json<AgentHosts>("/api/agents/asker/hosts");
    await expect
      .poll(hosts, slowly)
      .toMatchObject({ denied: [{ host, port: 443, attempts: 2, entry: host }] });
    await expect.poll(() => project.read("asked").catch(() => null), slowly).toBe("");
    const command = `al config asker --add network.allow=${host}`;
    const line = `${host}:443 denied: it is not in [network].allow. If the agent needs it: ${command}`;
    expect((await project.print("logs", "asker")).split(line)).toHaveLength(2);
    expect((await project.al("doctor")).stdout).toContain(`config asker --add network.allow`);

    await project.crash();
    const allowed = await project.post("/api/agents/asker/allow-host", { host });
    expect(await allowed.json()).toMatchObject({ entry: host, written: true });
    expect(await project.read("agents/asker/config.toml")).toContain(host);
    await expect.poll(hosts, slowly).toMatchObject({ denied: [{ entry: null }] });
    await project.write("go", "");
    const ended = () => project.latest("asker");
    await expect.poll(ended, slowly).toMatchObject({ ...closed, attempt: 1 });
    const { instanceId = "" } = (await ended()) ?? {};
    const run = await project.json<RunView>(`/api/runs/${instanceId}`);
    const counts = run.hosts.map(({ denied, connections }) => `${denied} ${connections}`);
    expect(counts.sort()).toEqual(["not_allowed 2", "unresolved 1"]);

    const looks = async () =>
      JSON.parse(await project.print("run", "looker", "--json")) as { readonly value: string };
    expect(await looks()).toMatchObject(closed);
    await project.append("agents/looker/config.toml", '[local]\nnetwork = "bridge"\n');
    await expect.poll(async () => (await looks()).value, slowly).not.toContain("al@");
  },
);
