import { createKubernetesEngine } from "../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import type { ClusterEngine } from "../../src/runtime/cluster/cluster-engine.ts";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { outsideAddresses } from "../helpers/kubernetes/outside.ts";
import { standInDoor, type StandInDoor } from "../helpers/swarm/stand-in-door.ts";
import { apply, preparedCluster } from "./live-side.ts";
import { project, runImage, scriptLaunch } from "./side.ts";

let cluster: LiveCluster;
let door: StandInDoor;
let engine: ClusterEngine;
let targets: Readonly<Record<string, string>>;
const names: string[] = [];

beforeAll(async () => {
  cluster = await preparedCluster();
  door = await standInDoor(cluster.host);
  engine = createKubernetesEngine({
    config: { address: door.address, namespace: null },
    project,
    kubeconfig: cluster.kubeconfig("almanac"),
  });
  await engine.ready();
  await apply(cluster, JSON.stringify(neighbour));
  await cluster.kubectl("wait", "--for=condition=Ready", "pod/neighbour", "--timeout=60s");
  const ip = await cluster.kubectl("get", "pod", "neighbour", "-o", "jsonpath={.status.podIP}");
  const [web, metadata] = outsideAddresses;
  targets = {
    neighbour: `tcp/${ip}/8080`,
    "API server": `tcp/${cluster.host}/6443`,
    kubelet: `tcp/${cluster.nodes[0]?.address}/10250`,
    "another node's kubelet": `tcp/${cluster.nodes[1]?.address}/10250`,
    internet: `tcp/${web}/80`,
    metadata: `tcp/${metadata}/80`,
    "name server": `udp/${web}/53`,
    "another port of the scheduler": `tcp/${cluster.host}/2379`,
  };
}, 300_000);
afterEach(async () => {
  for (const name of names.splice(0)) await engine.remove(name);
});
afterAll(async () => {
  await cluster.stop();
  await door.close();
});

/** A pod of the namespace that is no run: it listens, and has the token of its service account. */
const neighbour = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "neighbour" },
  spec: {
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 10_002,
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [
      {
        name: "web",
        image: runImage,
        command: ["python3", "-m", "http.server", "8080"],
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      },
    ],
  },
};

/** Shell that prints which of the targets answer. */
function probes(): string {
  const each = Object.entries(targets).map(
    ([name, at]) =>
      `(exec 4<>/dev/${at} && echo x >&4 && timeout 2 head -c 1 <&4 | grep -q . && echo "reaches ${name}") 2>/dev/null`,
  );
  // Servers that wait for TLS say nothing: a connection is enough.
  const connects = Object.entries(targets)
    .filter(([, at]) => at.startsWith("tcp"))
    .map(
      ([name, at]) =>
        `timeout 2 bash -c 'exec 4<>/dev/${at}' 2>/dev/null && echo "reaches ${name}"`,
    );
  return [...each, ...connects].join("; ");
}

async function heardOf(id: string, script: string, network: string): Promise<string> {
  const [host = "", port = ""] = door.address.split(":");
  const before = door.heard().length;
  const limits = { memory: "96m", cpus: 0.5, network };
  const launch = scriptLaunch(id, `{ ${script}; echo done; } >/dev/tcp/${host}/${port} 2>&1`, {
    limits,
  });
  names.push(launch.name);
  await engine.start(launch);
  const heard = () => door.heard().slice(before);
  await expect.poll(heard, { timeout: 60_000 }).toContain("done\n");
  return heard();
}

test("an open run reaches every target of the probes", async () => {
  const heard = await heardOf("open", probes(), "bridge");
  for (const name of Object.keys(targets)) expect(heard).toContain(`reaches ${name}\n`);
}, 90_000);

test("a closed run reaches the door, and nothing else", async () => {
  expect(await heardOf("closed", `sleep 2; ${probes()}`, "none")).toBe("done\n");
}, 90_000);

test("a closed run resolves no name and has no token of a service account", async () => {
  const script =
    "getent hosts example.com; ls /var/run/secrets/kubernetes.io; cat /etc/resolv.conf";
  const heard = await heardOf("names", script, "none");
  expect(heard).toContain("cannot access '/var/run/secrets/kubernetes.io'");
  expect(heard).toMatch(/nameserver 127.0.0.1\n(options .*\n)?done\n$/);
}, 90_000);

test("a closed run reaches a door in the cluster by its Service", async () => {
  const labels = { app: "door", "al.door": "yes" };
  const { spec } = neighbour;
  const doorPod = { ...neighbour, metadata: { name: "door", labels }, spec };
  const ports = [{ port: 8080, targetPort: 8080 }];
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "door" } };
  const ofDoor = { ...service, spec: { selector: { app: "door" }, ports } };
  await apply(cluster, [doorPod, ofDoor].map((each) => JSON.stringify(each)).join("\n"));
  await cluster.kubectl("wait", "--for=condition=Ready", "pod/door", "--timeout=60s");
  const ip = await cluster.kubectl("get", "service", "door", "-o", "jsonpath={.spec.clusterIP}");
  const behind = createKubernetesEngine({
    config: { address: `${ip}:8080`, namespace: null },
    project: "behindservice",
    kubeconfig: cluster.kubeconfig("almanac"),
  });
  await behind.ready();
  const script = `sleep 2; curl -sm 5 http://${ip}:8080/ | grep -q html && echo reached; ${probes()}`;
  const launch = scriptLaunch("service", `{ ${script}; } 2>&1 | tee /dev/stderr; exit 3`);
  names.push(launch.name);
  await behind.start(launch);
  const said = async () => (await behind.list())[0]?.problem;
  await expect.poll(said, { timeout: 60_000 }).toBe("Error, exit code 3: reached");
}, 120_000);

test("a closed run can't be reached by another pod", async () => {
  const id = "listens";
  const launch = scriptLaunch(id, "python3 -m http.server 8080 --directory /tmp");
  names.push(launch.name);
  await engine.start(launch);
  await expect
    .poll(async () => (await engine.list())[0]?.state, { timeout: 30_000 })
    .toBe("running");
  const pod = ["pod", "-l", `al.run=${launch.name}`, "-o", "jsonpath={.items[0].status.podIP}"];
  const ip = await cluster.kubectl("get", ...pod);
  const probe = `timeout 2 bash -c 'exec 4<>/dev/tcp/${ip}/8080' && echo reached`;
  expect(await heardOf("visitor", `sleep 3; ${probe}`, "bridge")).not.toContain("reached");
}, 90_000);

test("another pod's service account reads neither tickets nor runs", async () => {
  const launch = scriptLaunch("secret", "sleep 1000");
  names.push(launch.name);
  await engine.start(launch);
  for (const path of [`secrets/${launch.name}`, "secrets", "pods"]) {
    const url = `https://${cluster.host}:6443/api/v1/namespaces/agents/${path}`;
    const token = "$(cat /var/run/secrets/kubernetes.io/serviceaccount/token)";
    const ask = `curl -ks -H "Authorization: Bearer ${token}" ${url}`;
    const answer = await cluster.kubectl("exec", "neighbour", "--", "bash", "-c", ask);
    expect(JSON.parse(answer)).toMatchObject({ code: 403, reason: "Forbidden" });
  }
});
