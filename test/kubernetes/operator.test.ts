import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { testEngine } from "../helpers/docker.ts";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { program } from "../helpers/kubernetes/programs.ts";
import { startProcess } from "../helpers/own-process.ts";
import { programImage } from "../helpers/swarm/program-image.ts";
import { doctorContract } from "./doctor-contract.ts";
import { example, exampleOverlay } from "./example-overlay.ts";
import { apply, preparedCluster, recordedSide } from "./live-side.ts";
import { runImage } from "./side.ts";

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
  beforeEach(({ task }) => side.begin(`${task.suite?.name ?? ""} ${task.name}`));
  afterAll(async () => {
    vi.unstubAllEnvs();
    side.end();
    await side.close();
  });
  doctorContract(() => side);
});

describe("examples/kubernetes", () => {
  let overlay: ReturnType<typeof exampleOverlay>;

  beforeAll(async () => {
    overlay = exampleOverlay(cluster);
    overlay.useImage(image);
    await cluster.kubectl("apply", "-f", overlay.volume);
  });

  const applied = () => cluster.kubectl("apply", "-k", overlay.dir);
  const ready = () =>
    cluster.kubectl("rollout", "status", "statefulset/almanac", ...namespace, "--timeout=120s");
  /** Returns what the command printed; rejects if it failed. */
  const inPod = (...command: string[]) =>
    cluster.kubectl("exec", ...namespace, "almanac-0", "-c", "scheduler", "--", ...command);
  const images = "jsonpath={.items[*].spec.containers[0].image}";
  const imagesOfRuns = () =>
    cluster.kubectl("get", "pods", ...namespace, "-l", "al.run", "-o", images);
  const history = () => inPod("al", "history", "--json");
  const firstRun = async () => /"instanceId":"hello-\w+"/.exec(await history())?.[0] ?? "no run";

  test("is accepted without warnings as it stands", async () => {
    for (const dir of [example, join(example, "runs")]) {
      const dryRun = ["--dry-run=server", "--validate=strict", "--warnings-as-errors"];
      await cluster.kubectl("apply", "-k", dir, ...dryRun);
    }
  });

  test("starts a scheduler that runs an agent in another pod, by way of its Service", async () => {
    await applied();
    await ready();
    const said = inPod("al", "run", "hello");
    await expect.poll(imagesOfRuns).toContain(image);
    expect(await said).toContain("Hello from a pod.");
  }, 200_000);

  test("has all rights that al doctor asks for", async () => {
    const said = await inPod("sh", "-c", "al doctor; true");
    expect(said).toContain("this user has all rights that runs need in the namespace agents");
  });

  test("reaches its gateway by kubectl port-forward, with a link that logs in", async () => {
    const config = ["--kubeconfig", cluster.kubeconfig("admin"), ...namespace];
    const command = [program("kubectl"), ...config, "port-forward", "almanac-0", ":8080"];
    const forward = startProcess("port-forward", cluster.dir, command);
    onTestFinished(() => forward.kill());
    const log = () => readFileSync(join(cluster.dir, "port-forward.log"), "utf8");
    await expect.poll(log).toContain("Forwarding from 127.0.0.1:");
    const link = new URL((await inPod("al", "open", "--print")).trim());
    link.port = /127.0.0.1:(\d+)/.exec(log())?.[1] ?? "";
    const response = await fetch(link, { redirect: "manual" });
    expect(response.headers.get("set-cookie")).toContain("HttpOnly");
  });

  test("lets only namespaces with the label reach its gateway", async () => {
    await cluster.kubectl("create", "namespace", "ingress");
    const container = { name: "proxy", image: runImage, command: ["sleep", "1000"] };
    const metadata = { name: "proxy", namespace: "ingress" };
    const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [container] } };
    await apply(cluster, JSON.stringify(pod));
    await cluster.kubectl("wait", "--for=condition=Ready", "pod/proxy", "-n", "ingress");
    const ask = `curl -sm 2 -o /dev/null -w '%{http_code}' http://${overlay.ip}:8080/health; true`;
    const asked = () => cluster.kubectl("exec", "proxy", "-n", "ingress", "--", "sh", "-c", ask);
    expect(await asked()).toBe("000");
    await cluster.kubectl("label", "namespace", "ingress", "almanac-gateway=yes");
    await expect.poll(asked).toBe("200");
  }, 60_000);

  test("stores a credential from standard input, and is backed up with it by kubectl cp", async () => {
    await inPod("sh", "-c", "echo sk-ant-canary | al creds add anthropic_key");
    await inPod("al", "backup", "/data/backup.tgz", "--credentials");
    const file = join(cluster.dir, "backup.tgz");
    const from = ["agents/almanac-0:/data/backup.tgz", file, "-c", "scheduler"];
    await cluster.kubectl("cp", ...from);
    const names = execFileSync("tar", ["-tzf", file], { encoding: "utf8" });
    expect(names).toMatch(/state\.db/);
    expect(names).toContain("anthropic_key");
  });

  test("stops before it would be killed, and its next pod has the same history", async () => {
    const scale = (n: number) =>
      cluster.kubectl("scale", "statefulset/almanac", ...namespace, `--replicas=${n}`);
    const before = await firstRun();
    await scale(0);
    // Without an end of its own it would be killed after 60 s.
    await cluster.kubectl("wait", "--for=delete", "pod/almanac-0", ...namespace, "--timeout=40s");
    await scale(1);
    await ready();
    expect(await history()).toContain(before);
    expect(await inPod("al", "run", "hello")).toContain("Hello from a pod.");
  }, 200_000);

  test("is upgraded by another image in both files, and keeps its history", async () => {
    const next = "al-agent:upgraded";
    for (const { ctr } of cluster.nodes)
      await ctr(
        "images",
        "tag",
        "--force",
        `docker.io/library/${image}`,
        `docker.io/library/${next}`,
      );
    overlay.useImage(next);
    const before = await firstRun();
    await applied();
    await ready();
    expect(await history()).toContain(before);
    const said = inPod("al", "run", "hello");
    await expect.poll(imagesOfRuns).toContain(next);
    expect(await said).toContain("Hello from a pod.");
  }, 200_000);
});
