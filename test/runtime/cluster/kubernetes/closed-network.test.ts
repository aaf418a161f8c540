import { expect, it } from "vitest";
import { createKubernetesEngine } from "../../../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { engineTest, project } from "./support.ts";

it("creates the policy once, and changes it when the door moves", async () => {
  const { engine, cluster, another } = await engineTest();
  await Promise.all([engine.ready(), engine.ready()]);
  expect(cluster.requests).toEqual(["create networkpolicies"]);
  await Promise.all([1, 2, 3].map(() => another("[::1]:9443").ready()));
  const policies = cluster.store.list("networkpolicies");
  expect(policies).toHaveLength(1);
  expect(JSON.stringify(policies)).toContain("::1/128");
});

it("names the address that no run would find", async () => {
  const { another } = await engineTest();
  await expect(another("no-such-host.invalid:8443").ready()).rejects.toThrow(
    '[cluster] address = "no-such-host.invalid:8443"',
  );
});

it("reports an invalid kubeconfig, and reads it again the next time", async () => {
  const config = { address: "127.0.0.1:8443", namespace: null };
  const engine = createKubernetesEngine({ config, project, kubeconfig: "/no/such/kubeconfig" });
  await expect(engine.ready()).rejects.toMatchObject({
    code: "engine_unreachable",
    message: expect.stringContaining("/no/such/kubeconfig") as string,
  });
});
