import { isPartial, runName } from "../../src/runtime/cluster/cluster-engine.ts";
import { runJob } from "../../src/runtime/cluster/kubernetes/run-manifests.ts";
import { project, runOnce, runsOf, scriptLaunch, secretTicket } from "./side.ts";
import type { KubernetesSide } from "./side.ts";

/** What the engine asks of an API server, and what it makes of its answers. */
export function engineContract(side: () => KubernetesSide): void {
  const { name, launch, started, running, ended, absent, gone } = runsOf(side);

  describe("the cluster engine of Kubernetes", () => {
    test("shows a run from its start to its end, with its machine, and needs only its role", async () => {
      const engine = side().engine();
      await engine.ready();
      await engine.start(launch("sleep 2; echo the door does not answer >&2; exit 3"));
      const [begun] = await engine.list();
      expect(begun).toMatchObject({ name: name, instanceId: launch().instanceId, endings: 0 });
      const node = expect.stringMatching(/^n[12]$/) as string;
      expect(await running(engine)).toMatchObject({ node, problem: null, isHopeless: false });
      expect(await ended(engine)).toMatchObject({
        problem: "Error, exit code 3: the door does not answer",
        endings: 1,
        exitCode: 3,
        isHopeless: true,
      });
      await gone(engine);
    });

    test("creates the network policy once, and changes it when the scheduler's port for runs changes", async () => {
      const engine = side().engine();
      await Promise.all([engine.ready(), engine.ready()]);
      await side().engine("[2001:db8::1]:9443").ready();
      const policy = await side().kubectl("get", "networkpolicies", "-o", "json");
      expect(policy === "" || policy.includes("2001:db8::1/128")).toBe(true);
    });

    test("stores a run's token only in a Secret that is deleted with the run", async () => {
      const engine = await started(`grep -q the-secret /run/secrets/al-run; exit $?`);
      expect(await ended(engine)).toMatchObject({ exitCode: 0, problem: null });
      const others = await side().kubectl("get", "jobs,pods,events", "-o", "yaml");
      const encoded = Buffer.from(secretTicket).toString("base64");
      expect(others).not.toMatch(new RegExp(`the-secret-ticket|${encoded}`));
      await gone(engine);
      const secrets = () => side().kubectl("get", "secrets", "-o", "name");
      await expect.poll(secrets, { timeout: 20_000 }).toBe("");
    });

    test("ends a run at once, and accepts that a run is already gone", async () => {
      const engine = await started(`trap '' TERM; while true; do sleep 1; done`);
      await running(engine);
      await gone(engine);
      await engine.remove(name);
    });

    test("starts a run only once, even if its pod is evicted", async () => {
      const engine = await started();
      const run = await running(engine);
      await side().kubectl("drain", run?.node ?? "", "--delete-emptydir-data");
      expect(await ended(engine)).toMatchObject({ isHopeless: true, isEvicted: true });
      await side().kubectl("uncordon", run?.node ?? "");
      const [after] = await engine.list();
      expect(after).toMatchObject({ state: "ended", isHopeless: true, endings: 1 });
      await gone(engine);
    });

    test("reports that a run had no memory left", async () => {
      const engine = await started("sleep 1; tail /dev/zero; exit $?");
      expect(await ended(engine)).toMatchObject({ exitCode: 137, outOfMemory: true });
      await gone(engine);
    });

    test("lists the project's runs of every scheduler, and no others", async () => {
      const engine = side().engine();
      const foreign = runJob(scriptLaunch("foreign", "sleep 1000"), {
        project: "other",
        hosts: [],
      });
      await side().apply(foreign);
      await engine.start(launch());
      const shown = await side().engine().list();
      expect(shown).toMatchObject([{ instanceId: launch().instanceId }]);
      await side().kubectl("delete", "job", runName("foreign"));
      await gone(engine);
    });

    test("reports why the server refuses a run", async () => {
      const engine = await started();
      await expect(engine.start(launch())).rejects.toThrow(
        `Kubernetes refused to start the run: jobs.batch "${name}" already exists`,
      );
      const limits = { memory: "64m", cpus: 1, network: "lan" };
      const other = engine.start(scriptLaunch("other", "sleep 1000", { limits }));
      await expect(other).rejects.toThrow('[local] network = "lan"');
      await gone(engine);
    });

    test("can start a run even if the Secret of an earlier attempt still exists", async () => {
      const engine = side().engine();
      await side().kubectl("create", "secret", "generic", name);
      await expect(engine.start(launch())).rejects.toMatchObject({
        code: "engine_unreachable",
        message: "Kubernetes still removes an earlier attempt to start the run",
      });
      expect(await absent(engine)).toBeUndefined();
      await side().kubectl("delete", "secret", name);
      await engine.start(launch());
      await running(engine);
      await gone(engine);
    });

    test("reports a missing permission, and deletes the run's objects", async () => {
      const engine = side().engine();
      const withoutSecrets = "--verb=create,patch,delete,list,deletecollection";
      await side().kubectl("delete", "rolebinding", "almanac");
      await side().kubectl("create", "role", "less", withoutSecrets, "--resource=jobs,pods");
      await side().kubectl("create", "rolebinding", "less", "--role=less", "--user=almanac");
      const refused = engine.start(launch());
      await expect(refused).rejects.toThrow(/cannot create resource "secrets"/);
      await expect(refused).rejects.toMatchObject({
        hint: expect.stringContaining("al doctor") as string,
      });
      expect(await absent(engine)).toBeUndefined();
      await side().kubectl("delete", "rolebinding", "less");
      await side().kubectl("create", "rolebinding", "almanac", "--role=almanac", "--user=almanac");
    });

    test("reports a run whose start was interrupted as not running", async () => {
      const engine = side().engine();
      await side().apply(runJob(launch(), { project, hosts: [] }));
      const run = await runOnce(side(), engine, (one) => one !== undefined);
      expect(run && isPartial(run)).toBe(true);
      expect(run).toMatchObject({ instanceId: launch().instanceId, isHopeless: false });
      await gone(engine);
    });

    test("reads the kubeconfig again once its token has expired", async () => {
      side().renewToken(false);
      const engine = side().engine();
      await expect(engine.list()).rejects.toThrow(/^Kubernetes refused to list the runs/);
      side().renewToken(true);
      expect(await engine.list()).toEqual([]);
    });
  });
}
