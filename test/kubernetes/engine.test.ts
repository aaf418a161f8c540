import { join } from "node:path";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { engineContract } from "./engine-contract.ts";
import { preparedCluster, recordedSide } from "./live-side.ts";
import { waitingContract } from "./waiting-contract.ts";

// A node waits 10 s and more between two pulls.
vi.setConfig({ testTimeout: 120_000 });

let cluster: LiveCluster;
let side: Awaited<ReturnType<typeof recordedSide>>;

beforeAll(async () => {
  cluster = await preparedCluster();
  side = await recordedSide(cluster, join(import.meta.dirname, "recorded.jsonl"));
}, 300_000);
beforeEach(({ task }) => side.begin(`${task.suite?.name ?? ""} ${task.name}`));
afterEach(async ({ task }) => {
  if (task.result?.state !== "fail") return;
  await cluster.kubectl("delete", "--all", "jobs,pods,resourcequotas,limitranges", "--force");
  await cluster.kubectl("uncordon", "n1", "n2");
});
afterAll(async () => {
  side.end();
  await side.close();
  await cluster.stop();
});

engineContract(() => side);
waitingContract(() => side);
