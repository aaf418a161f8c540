import { placedRuns } from "../../../../src/runtime/cluster/kubernetes/placed-runs.ts";
import { runJob } from "../../../../src/runtime/cluster/kubernetes/run-manifests.ts";
import { project, scriptLaunch } from "../../../kubernetes/side.ts";

/** A run whose container ended so, as its node reports it. */
function endedBy(reason: string, exitCode: number) {
  const { metadata } = runJob(scriptLaunch("dev", "true"), { project, hosts: [] });
  const state = { terminated: { reason, exitCode } };
  const container = { name: "run", state, image: "", imageID: "", ready: false, restartCount: 0 };
  const status = { phase: "Failed", containerStatuses: [container] };
  const pods = [{ metadata: { ...metadata, name: "pod" }, status }];
  return placedRuns({ jobs: [], pods, failedPulls: new Map(), refusals: new Map() })[0];
}

test("a run whose node lost its power did not fail itself", () => {
  expect(endedBy("Unknown", 255)).toMatchObject({ state: "ended", isEvicted: true });
  expect(endedBy("ContainerStatusUnknown", 137)).toMatchObject({ isEvicted: true });
  expect(endedBy("Error", 1)).not.toHaveProperty("isEvicted");
});
