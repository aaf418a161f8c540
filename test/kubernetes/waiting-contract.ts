import type { ClusterEngine } from "../../src/runtime/cluster/cluster-engine.ts";
import { runsOf, type KubernetesSide } from "./side.ts";

/** Why a run waits, or never starts, by the reasons of a real cluster. */
export function waitingContract(side: () => KubernetesSide): void {
  const { started, until, running, ended, gone } = runsOf(side);
  /** The run once it has a problem. */
  const waits = (engine: ClusterEngine) => until(engine, ({ problem }) => problem !== null);

  describe("a run that waits in Kubernetes", () => {
    test("shows why no machine accepts it, and starts once one does", async () => {
      const engine = await started(undefined, { place: ["agents=yes"] });
      const waiting = await waits(engine);
      expect(waiting).toMatchObject({ state: "waiting", node: null, isHopeless: false });
      expect(waiting?.problem).toMatch(
        /^Unschedulable: 0\/2 nodes are available: 2 node\(s\) didn't match/,
      );
      await side().kubectl("label", "node", "n2", "agents=yes");
      expect(await running(engine)).toMatchObject({ node: "n2" });
      await gone(engine);
      await side().kubectl("label", "node", "n2", "agents-");
    });

    test("shows that no machine has the reserved resources", async () => {
      const limits = { memory: "900g", cpus: 1, network: "none" };
      const reserve = { memory: "800g", cpus: 0.01 };
      const engine = await started(undefined, { limits, reserve });
      const waiting = await waits(engine);
      expect(waiting?.problem).toContain("Insufficient memory");
      await gone(engine);
    });

    test("is rejected only after its image could not be pulled three times", async () => {
      const engine = await started(undefined, { image: "127.0.0.1:1/no-such-image:1" });
      const last = await until(engine, (run) => {
        expect(run.isHopeless).toBe(run.endings >= 3);
        return run.isHopeless;
      });
      expect(last).toMatchObject({ state: "waiting", isHopeless: true });
      expect(last?.problem).toContain("127.0.0.1:1/no-such-image:1");
      await gone(engine);
    });

    test("counts as evicted, not as failed, if its machine is drained before it started", async () => {
      const engine = await started(undefined, { image: "127.0.0.1:1/no-such-image:1" });
      const waiting = await until(engine, ({ node, problem }) => node !== null && problem !== null);
      await side().kubectl("drain", waiting?.node ?? "", "--delete-emptydir-data");
      const last = await ended(engine);
      expect(last).toMatchObject({ isEvicted: true });
      await side().kubectl("uncordon", waiting?.node ?? "");
      await gone(engine);
    });

    test("is rejected at once for an invalid image name", async () => {
      const engine = await started(undefined, { image: "Not An Image" });
      const last = await until(engine, ({ isHopeless }) => isHopeless);
      expect(last?.problem).toMatch(/^InvalidImageName/);
      await gone(engine);
    });

    test("shows an exceeded quota, and starts once there is room", async () => {
      await side().apply(quota("0"));
      const engine = await started();
      const waiting = await waits(engine);
      expect(waiting).toMatchObject({ state: "waiting", node: null, isHopeless: false });
      expect(waiting?.problem).toMatch(/is forbidden: exceeded quota: few/);
      await side().kubectl("delete", "resourcequota", "few");
      expect(await running(engine)).toMatchObject({ problem: null });
      await gone(engine);
    });

    test("shows the LimitRange that it exceeds", async () => {
      const limits = [{ type: "Container", max: { memory: "16Mi" } }];
      const metadata = { name: "small" };
      await side().apply({ apiVersion: "v1", kind: "LimitRange", metadata, spec: { limits } });
      const engine = await started();
      const waiting = await waits(engine);
      expect(waiting?.problem).toContain("maximum memory usage per Container is 16Mi");
      await side().kubectl("delete", "limitrange", "small");
      await gone(engine);
    });
  });
}

function quota(pods: string): object {
  const metadata = { name: "few" };
  return { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard: { pods } } };
}
