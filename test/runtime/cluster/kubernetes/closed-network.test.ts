import { expect, it } from "vitest";
import { createKubernetesEngine } from "../../../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { engineTest, project } from "./support.ts";

it("makes the policy once, and changes it when the door moves", async () => {
  const { engine, cluster } = await engineTest();
  await Promise.all([engine.ready(), engine.ready()]);
  const created = cluster.requests.filter((request) => request === "create networkpolicies");
  expect(created).toHaveLength(1);
  const config = { address: "[::1]:9443", namespace: null };
  const moved = createKubernetesEngine({ config, project, kubeconfig: cluster.kubeconfig });
  await moved.ready();
  expect(cluster.requests.slice(-2)).toEqual(["get networkpolicies", "update networkpolicies"]);
  expect(JSON.stringify(cluster.store.list("networkpolicies"))).toContain("::1/128");
});

it("tries again when another scheduler makes or changes the policy at the same time", async () => {
  const { cluster, another } = await engineTest();
  await Promise.all(Array.from({ length: 4 }, () => another().ready()));
  expect(cluster.store.list("networkpolicies")).toHaveLength(1);
  const config = { address: "127.0.0.1:9999", namespace: null };
  const moved = Array.from({ length: 4 }, () =>
    createKubernetesEngine({ config, project, kubeconfig: cluster.kubeconfig }),
  );
  await Promise.all(moved.map((engine) => engine.ready()));
  expect(JSON.stringify(cluster.store.list("networkpolicies"))).toContain("9999");
});

it("says which address no run would find", async () => {
  const { cluster } = await engineTest();
  const config = { address: "no-such-host.invalid:8443", namespace: null };
  const engine = createKubernetesEngine({ config, project, kubeconfig: cluster.kubeconfig });
  await expect(engine.ready()).rejects.toThrow('[cluster] address = "no-such-host.invalid:8443"');
});

it("says what is wrong with a kubeconfig, and reads it anew the next time", async () => {
  const config = { address: "127.0.0.1:8443", namespace: null };
  const engine = createKubernetesEngine({ config, project, kubeconfig: "/no/such/kubeconfig" });
  await expect(engine.ready()).rejects.toMatchObject({
    code: "engine_unreachable",
    message: expect.stringContaining("/no/such/kubeconfig") as string,
  });
});
