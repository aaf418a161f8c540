import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createNetwork } from "../swarm/network.ts";
import { releaseSlot, takeSlot } from "../swarm/slot.ts";
import { startControlPlane } from "./control-plane.ts";
import { createKubeNode, type KubeNode } from "./kube-node.ts";
import { startOutside } from "./outside.ts";
import { program } from "./programs.ts";

const run = promisify(execFile);

export interface LiveClusterOptions {
  /** Names of images of this machine's Docker, which every node has from the start. */
  readonly images: readonly string[];
  /** Hosts of registries that are asked without TLS. */
  readonly registries?: readonly string[];
}

const settleTimeoutMs = 90_000;
const pauseImage = "al-test-pause:1";

/**
 * A Kubernetes of n nodes on this machine: its own programs, each node with a network and processes of its own. What it
 * uses is removed by `stop`, and by the next test run where this one is killed.
 */
export async function startLiveCluster(n: number, { images, registries = [] }: LiveClusterOptions) {
  const slot = takeSlot();
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of undo.reverse()) await each();
    releaseSlot(slot);
  };
  try {
    const numbers = Array.from({ length: n }, (_, index) => index + 1);
    const network = createNetwork(slot.number, n + 1);
    const names = numbers.map((number) => `n${number}`);
    const serviceRange = `10.79.${slot.number}.0/24`;
    const plane = startControlPlane({
      dir: join(slot.dir, "control"),
      host: network.host,
      serviceRange,
      nodes: names,
    });
    undo.push(async () => (await plane).stop());
    const { kubeconfig, kubectl, ...rest } = await plane;
    const podRange = (number: number) => `10.78.${slot.number}.${(number - 1) * 128}/25`;
    const nodes = numbers.map((number) =>
      createKubeNode({
        slot,
        network,
        number,
        serviceRange,
        registries,
        podRange: podRange(number),
        adminKubeconfig: kubeconfig("admin"),
      }),
    );
    addRoutes(nodes, [...numbers, n + 1].map(network.namespace));
    const outside = startOutside(network, n + 1, slot.dir);
    undo.push(() => outside.kill());
    undo.push(async () => {
      await Promise.all(nodes.map((node) => node.kill()));
      removeRoutes(nodes);
    });
    execFileSync("sh", ["-c", importPause, program("pause"), pauseImage]);
    await Promise.all(nodes.map(async (node) => boot(node, [pauseImage, ...images])));
    const settled = (timeoutMs = settleTimeoutMs) => allReady(kubectl, n, timeoutMs);
    await settled();
    return {
      ...rest,
      kubeconfig,
      kubectl,
      nodes,
      /** This machine's address, as nodes and pods reach it. */
      host: network.host,
      dir: slot.dir,
      /** Resolves when every node is ready. All are up and connected. */
      settled,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export type LiveCluster = Awaited<ReturnType<typeof startLiveCluster>>;

const importPause = `tar -C "$(dirname "$0")" -c pause |
  docker import --change 'ENTRYPOINT ["/pause"]' --change 'USER 65535:65535' - "$1"`;

async function boot(node: KubeNode, images: readonly string[]): Promise<void> {
  const { ended } = node.boot();
  await Promise.race([node.containerdAnswers(), ended]);
  const importAll = `docker save "$@" | ctr -a "$0" -n k8s.io images import --digests=false -`;
  await Promise.race([run("sh", ["-c", importAll, node.socket, ...images]), ended]);
}

async function allReady(
  kubectl: (...args: readonly string[]) => Promise<string>,
  count: number,
  timeout: number,
): Promise<void> {
  const path = `{range .items[*]}{.spec.taints}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}`;
  const look = async () => {
    const lines = await kubectl("get", "nodes", "-o", `jsonpath=${path}`);
    const ready = lines.split("\n").filter((line) => line === "True");
    if (ready.length !== count) throw new Error(`the nodes are not ready: ${lines}`);
  };
  await vi.waitFor(look, { timeout, interval: 200 });
}

/** This machine and all others reach the pods of a node. */
function addRoutes(nodes: readonly KubeNode[], namespaces: readonly string[]): void {
  nodes.forEach(({ podRange, address }, index) => {
    const route = ["route", "replace", podRange, "via", address];
    execFileSync("ip", route);
    const others = namespaces.filter((_name, at) => at !== index);
    for (const other of others) execFileSync("ip", ["-n", other, ...route]);
  });
}

/** Those of the nodes' namespaces go with them. */
function removeRoutes(nodes: readonly KubeNode[]): void {
  for (const { podRange } of nodes) execFileSync("ip", ["route", "del", podRange]);
}
