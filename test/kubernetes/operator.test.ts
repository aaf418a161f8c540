import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { testEngine } from "../helpers/docker.ts";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { program, startProcess } from "../helpers/kubernetes/programs.ts";
import { programImage } from "../helpers/swarm/program-image.ts";
import { doctorContract } from "./doctor-contract.ts";
import { preparedCluster, recordedSide } from "./live-side.ts";

const example = join(import.meta.dirname, "../../examples/kubernetes");
const namespace = ["-n", "agents"];
let image: string;
let cluster: LiveCluster;

beforeAll(async () => {
  image = await programImage((await testEngine()).engine);
  cluster = await preparedCluster([image]);
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

describe("examples/kubernetes", () => {
  const slot = () => basename(cluster.dir);
  const proxies: { kill(): Promise<void> }[] = [];
  let volume: string;

  /** What most clusters have, and this one has not: addresses of Services, a volume, and the name in its DNS. */
  beforeAll(async () => {
    for (const { name } of cluster.nodes) {
      const own = `--hostname-override=${name} --kubeconfig=${cluster.kubeconfig("admin")}`;
      const kernel = "--conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0s";
      const dir = join(cluster.dir, name);
      const inside = ["nsenter", `--net=/run/netns/als${slot()}${name}`, program("kube-proxy")];
      const args = `${own} ${kernel} --conntrack-tcp-timeout-close-wait=0s --proxy-mode=iptables`;
      proxies.push(startProcess("kube-proxy", dir, [...inside, ...args.split(" ")]));
    }
    volume = join(cluster.dir, "volume");
    mkdirSync(volume);
    chmodSync(volume, 0o777);
    writeOverlay();
    await cluster.kubectl("apply", "-f", join(cluster.dir, "overlay/volume.yaml"));
  });
  afterAll(async () => {
    await Promise.all(proxies.map((each) => each.kill()));
  });

  /** The example with an image of its own, as its page says, in an overlay. */
  function writeOverlay(): void {
    const base = join(cluster.dir, "example");
    cpSync(example, base, { recursive: true });
    const [name = "", tag = ""] = image.split(":");
    for (const file of ["kustomization.yaml", "config.toml"]) {
      const text = readFileSync(join(base, file), "utf8");
      const own = text.replace("registry.example.com/team/almanac", name).replace("0.1.0", tag);
      writeFileSync(join(base, file), own);
    }
    const dir = join(cluster.dir, "overlay");
    mkdirSync(dir);
    const ip = `10.79.${slot()}.50`;
    const hostAliases = [{ ip, hostnames: ["almanac.agents.svc"] }];
    const patches = [
      patch("StatefulSet", "/spec/template/spec/hostAliases", hostAliases),
      patch("Service", "/spec/clusterIP", ip),
    ];
    const files = {
      "kustomization.yaml": { resources: ["../example"], patches },
      "volume.yaml": {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: "data" },
        spec: {
          capacity: { storage: "5Gi" },
          accessModes: ["ReadWriteOnce"],
          hostPath: { path: volume },
        },
      },
    };
    for (const [file, content] of Object.entries(files))
      writeFileSync(join(dir, file), JSON.stringify(content));
  }

  function patch(kind: string, path: string, value: unknown): object {
    return {
      target: { kind, name: "almanac" },
      patch: JSON.stringify([{ op: "add", path, value }]),
    };
  }

  const ready = () =>
    cluster.kubectl("rollout", "status", "statefulset/almanac", ...namespace, "--timeout=120s");
  /** Returns what the command printed; rejects if it failed. */
  const inPod = (...command: string[]) =>
    cluster.kubectl("exec", ...namespace, "almanac-0", "-c", "scheduler", "--", ...command);

  it("is accepted as it stands", async () => {
    const said = await cluster.kubectl("apply", "-k", example, "--dry-run=server");
    expect(said).toContain("statefulset.apps/almanac created (server dry run)");
  });

  it("starts a scheduler that runs an agent in another pod, by way of its Service", async () => {
    await cluster.kubectl("apply", "-k", join(cluster.dir, "overlay"));
    await ready();
    expect(await inPod("al", "run", "hello")).toContain("Hello from a pod.");
  }, 200_000);

  it("has all rights that al doctor asks for", async () => {
    const said = await inPod("sh", "-c", "al doctor; true");
    expect(said).toContain("this user may do all that runs need in the namespace agents");
  });

  it("stops before it would be killed, and its next pod has the same history", async () => {
    const scale = (n: number) =>
      cluster.kubectl("scale", "statefulset/almanac", ...namespace, `--replicas=${n}`);
    const history = () => inPod("al", "history", "--json");
    const before = /"instanceId":"hello-\w+"/.exec(await history())?.[0];
    await scale(0);
    // Without an end of its own it would be killed after 60 s.
    await cluster.kubectl("wait", "--for=delete", "pod/almanac-0", ...namespace, "--timeout=40s");
    await scale(1);
    await ready();
    expect(await history()).toContain(before ?? "no run");
    expect(await inPod("al", "run", "hello")).toContain("Hello from a pod.");
  }, 200_000);
});
