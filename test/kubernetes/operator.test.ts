import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, vi } from "vitest";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { doctorContract } from "./doctor-contract.ts";
import { preparedCluster, recordedSide } from "./live-side.ts";

let cluster: LiveCluster;

beforeAll(async () => {
  cluster = await preparedCluster();
}, 300_000);
afterAll(() => cluster.stop());

describe("al doctor, recorded", () => {
  let side: Awaited<ReturnType<typeof recordedSide>>;
  beforeAll(async () => {
    side = await recordedSide(cluster, join(import.meta.dirname, "recorded-doctor.jsonl"));
    vi.stubEnv("KUBECONFIG", join(cluster.dir, "recorded.kubeconfig"));
  });
  beforeEach(({ task }) => side.begin(task.name));
  afterAll(async () => {
    vi.unstubAllEnvs();
    side.end();
    await side.close();
  });
  doctorContract(() => side);
});
