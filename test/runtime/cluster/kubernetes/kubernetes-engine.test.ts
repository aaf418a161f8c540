import { describe, expect, it } from "vitest";
import { isPartial, runName } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { runJob } from "../../../../src/runtime/cluster/kubernetes/run-manifests.ts";
import type { NewObject } from "../../../helpers/kubernetes/object-store.ts";
import type { KubeObject, Pod } from "../../../helpers/kubernetes/wire-types.ts";
import { engineTest, launch, project, runOnce, secretTicket } from "./support.ts";

const id = "dev-20261123-abcdef";

describe("the cluster engine of Kubernetes", () => {
  it("sends only fields in the OpenAPI of the API server, and needs only its role", async () => {
    // `engineTest` checks it at the end of every test.
    const { engine, cluster, pods } = await engineTest();
    await engine.ready();
    await engine.start(launch(id));
    await runOnce(engine, (run) => run?.state === "running");
    pods.all[0]?.end({ exitCode: 0 });
    await runOnce(engine, (run) => run?.state === "ended");
    await engine.remove(runName(id));
    await runOnce(engine, (run) => run === undefined);
    expect(new Set(cluster.requests)).toEqual(
      new Set([
        "create networkpolicies",
        "create jobs",
        "create secrets",
        "patch jobs",
        "list jobs",
        "list pods",
        "delete jobs",
        "deletecollection pods",
        ...(cluster.requests.includes("list events") ? ["list events"] : []),
      ]),
    );
  });

  it("shows a run from its start to its end, with its machine", async () => {
    const { engine, pods } = await engineTest();
    await engine.start(launch(id));
    const [begun] = await engine.list();
    expect(begun).toMatchObject({ name: runName(id), instanceId: id, endings: 0 });
    const running = await runOnce(engine, (run) => run?.state === "running");
    expect(running).toMatchObject({ node: "node-1", problem: null, isHopeless: false });
    pods.all[0]?.start.write("al: the door at 127.0.0.1:8443 does not answer\n");
    pods.all[0]?.end({ exitCode: 3 });
    expect(await runOnce(engine, (run) => run?.state === "ended")).toMatchObject({
      problem: "Error, exit code 3: al: the door at 127.0.0.1:8443 does not answer",
      endings: 1,
      exitCode: 3,
      isHopeless: true,
    });
  });

  it("gives a run its ticket as a file that is deleted with it, and that no other run has", async () => {
    const { engine, cluster, pods } = await engineTest();
    await engine.start(launch(id));
    await runOnce(engine, (run) => run?.state === "running");
    expect(pods.all[0]?.start.env).toEqual({ AL_INSTANCE: id, AL_NODE: "node-1" });
    expect(pods.all[0]?.start.files).toEqual({ "/run/secrets/al-run": secretTicket });
    const [secret] = cluster.store.list("secrets");
    const others = [...cluster.store.list("jobs"), ...cluster.store.list("pods")];
    const encoded = Buffer.from(secretTicket).toString("base64");
    expect(JSON.stringify(secret)).toContain(encoded);
    expect(JSON.stringify(others)).not.toMatch(new RegExp(`the-secret-ticket|${encoded}`));
    await engine.remove(runName(id));
    await expect.poll(() => cluster.store.list("secrets")).toEqual([]);
  });

  it("ends a run at once, also one that is gone", async () => {
    const { engine, cluster, pods } = await engineTest();
    await engine.start(launch(id));
    await runOnce(engine, (run) => run?.state === "running");
    await engine.remove(runName(id));
    await engine.remove(runName(id));
    expect(pods.all[0]?.asked).toEqual(["KILL"]);
    await expect
      .poll(() => [...cluster.store.list("jobs"), ...cluster.store.list("pods")])
      .toEqual([]);
  });

  it("starts a run only once, even if its pod fails", async () => {
    const { engine, cluster, pods } = await engineTest();
    await engine.start(launch(id));
    await runOnce(engine, (run) => run?.state === "running");
    cluster.drain("node-1");
    expect(await runOnce(engine, (run) => run?.state === "ended")).toMatchObject({
      problem: expect.stringContaining("BackoffLimitExceeded") as string,
      isHopeless: true,
    });
    expect(pods.all).toHaveLength(1);
    expect(pods.all[0]?.asked[0]).toBe("TERM");
  });

  it("leaves a run on a silent machine unchanged: its lease decides", async () => {
    const { engine, cluster } = await engineTest();
    await engine.start(launch(id));
    await runOnce(engine, (run) => run?.state === "running");
    cluster.crash("node-1");
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await engine.list()).toMatchObject([{ state: "running", node: "node-1" }]);
    await engine.remove(runName(id));
    await runOnce(engine, (run) => run === undefined);
  });

  it("sees the project's runs of every scheduler, and no others", async () => {
    const { engine, cluster, another } = await engineTest();
    await engine.start(launch(id));
    cluster.store.create("jobs", foreignJob());
    expect(await another().list()).toMatchObject([{ instanceId: id }]);
  });

  it("reports why the server rejects a run", async () => {
    const { engine } = await engineTest();
    await engine.start(launch(id));
    await expect(engine.start(launch(id))).rejects.toThrow(
      `Kubernetes refused to start the run: jobs "${runName(id)}" already exists`,
    );
    const other = launch("other", { limits: { ...launch(id).limits, network: "lan" } });
    await expect(engine.start(other)).rejects.toThrow('[local] network = "lan"');
  });

  it("names the missing right, and leaves nothing of the run", async () => {
    const rules = [
      {
        apiGroups: ["batch"],
        resources: ["jobs"],
        verbs: ["create", "patch", "delete", "list"],
      },
      { apiGroups: [""], resources: ["pods"], verbs: ["deletecollection", "list"] },
    ];
    const { engine, cluster } = await engineTest({ rules });
    const refused = engine.start(launch(id));
    await expect(refused).rejects.toThrow(/cannot create resource "secrets"/);
    await expect(refused).rejects.toMatchObject({
      hint: expect.stringContaining("README.md") as string,
    });
    await expect.poll(() => cluster.store.list("pods")).toEqual([]);
    expect(cluster.store.list("jobs")).toEqual([]);
  });

  it("shows an interrupted start as a run of which nothing runs", async () => {
    const { engine, cluster, pods } = await engineTest();
    const job = runJob(launch(id), { project, hosts: [] });
    cluster.store.create("jobs", job as unknown as NewObject);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const [run] = await engine.list();
    expect(run && isPartial(run)).toBe(true);
    expect(run).toMatchObject({ instanceId: id, isHopeless: false });
    expect(pods.all).toEqual([]);
  });

  it("reads the kubeconfig again when its token expired", async () => {
    const { engine, cluster } = await engineTest();
    await engine.ready();
    cluster.renewToken();
    await expect(engine.start(launch(id))).rejects.toThrow(/^Kubernetes refused to start the run/);
    await engine.start(launch(id));
    expect(await engine.list()).toHaveLength(1);
  });

  it("rejects while the API server is away, and continues when it is back", async () => {
    const { engine, cluster } = await engineTest();
    await engine.start(launch(id));
    await runOnce(engine, (run) => run?.state === "running");
    cluster.away(true);
    await expect(engine.list()).rejects.toMatchObject({
      code: "engine_unreachable",
      message: expect.stringContaining(
        "no API server of Kubernetes answers at https://127",
      ) as string,
    });
    cluster.away(false);
    expect(await engine.list()).toMatchObject([{ state: "running" }]);
  });
});

function foreignJob() {
  const [container] = [{ name: "x", image: "y" }];
  const template: { spec: Pod["spec"] } = { spec: { containers: [container] } };
  const job: Omit<KubeObject, "metadata"> & { spec: object } = {
    apiVersion: "batch/v1",
    kind: "Job",
    spec: { template },
  };
  return { ...job, metadata: { name: "al-foreign", labels: { "al.project": "other" } } };
}
