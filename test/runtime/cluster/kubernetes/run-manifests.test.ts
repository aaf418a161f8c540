import type { Launch } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { runJob } from "../../../../src/runtime/cluster/kubernetes/run-manifests.ts";
import { project, scriptLaunch } from "../../../kubernetes/side.ts";

const hosts = [{ ip: "192.0.2.1", hostnames: ["door.example.com"] }];

/** The pod of a run. */
function podOf(over: Partial<Launch> = {}) {
  const job = runJob(scriptLaunch("dev", "true", over), { project, hosts });
  const { spec, metadata } = job.spec?.template ?? {};
  return { spec, labels: metadata?.labels, container: spec?.containers[0] };
}

describe("the manifest of a run", () => {
  test("has its limits, and reserves no more than these", () => {
    const limits = { memory: "512m", cpus: 2, network: "none" };
    const { container } = podOf({ limits, reserve: { memory: "1g", cpus: 0.1 } });
    expect(container?.resources).toEqual({
      limits: { memory: "536870912", cpu: "2000m" },
      requests: { memory: "536870912", cpu: "100m" },
    });
  });

  test("keeps each folder in memory, at most half of the run's", () => {
    const { spec, container } = podOf({ volumes: ["/vol"] });
    const folders = container?.volumeMounts?.map(({ mountPath }) => mountPath);
    expect(folders).toEqual(["/workspace", "/tmp", "/home/al", "/run/al", "/vol", "/run/secrets"]);
    const memory = spec?.volumes?.flatMap(({ emptyDir }) => emptyDir ?? []);
    expect(memory).toEqual(Array(5).fill({ medium: "Memory", sizeLimit: String(32 * 1024 ** 2) }));
  });

  test("gives an open run the network of every pod", () => {
    const { spec, labels } = podOf({ limits: { memory: "1g", cpus: 1, network: "bridge" } });
    expect(labels).not.toHaveProperty(["al.closed"]);
    expect(spec).not.toHaveProperty("dnsPolicy");
  });
});
