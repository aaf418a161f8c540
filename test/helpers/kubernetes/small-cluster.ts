import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateAuthority } from "../certificate-authority.ts";
import { checkAgainst } from "./api-document.ts";
import { startApiServer } from "./api-server.ts";
import { collectGarbage } from "./garbage-collector.ts";
import { controlJobs } from "./job-controller.ts";
import { runPods } from "./kubelet.ts";
import { kubernetesApi } from "./kubernetes-api.ts";
import type { Node, NodeSpec } from "./nodes.ts";
import { createObjectStore } from "./object-store.ts";
import type { ObjectStore } from "./object-store.ts";
import type { StartProgram } from "./pod-program.ts";
import { restrictedViolations } from "./pod-security.ts";
import { roleRules } from "./role-rules.ts";
import type { Rule } from "./routes.ts";
import { serveWatches } from "./watches.ts";
import type { PodSpec } from "./wire-types.ts";

export interface SmallClusterOptions {
  /** How a pod's program is started: as a process, or as a function for a thousand of them. */
  readonly start: StartProgram;
  readonly nodes?: readonly NodeSpec[];
  /** Images that can be had; null for all. */
  readonly images?: readonly string[] | null;
  /** How long a second of deadlines and times to live is, in ms. */
  readonly secondMs?: number;
  readonly bookmarkMs?: number;
  /** What the cluster has against a pod, such as a quota; what the profile `restricted` has without it. */
  readonly admit?: (spec: PodSpec) => readonly string[];
  /** What the client's user may do; the role of the docs without it. */
  readonly rules?: readonly Rule[];
}

export interface SmallCluster {
  readonly namespace: string;
  /** Path of a kubeconfig for it. */
  readonly kubeconfig: string;
  readonly store: ObjectStore;
  readonly nodes: readonly Node[];
  /** What the OpenAPI of a real one has against requests, answers and events of watches. */
  readonly violations: () => readonly string[];
  readonly requests: readonly string[];
  readonly watchCount: () => number;
  readonly log: (pod: string) => string;
  /** Cuts all connections, and answers no more until it is back. */
  away(isAway: boolean): void;
  endWatches(): void;
  /** Writes another token into the kubeconfig; the one before is worth nothing. */
  readonly renewToken: () => void;
  drain(node: string): void;
  /** The node loses its power. */
  crash(node: string): void;
  stop(): Promise<void>;
}

/**
 * A Kubernetes of one process: an API server with jobs, pods, secrets, network policies, events and logs, with versions,
 * watches, bookmarks, 410 and conflicts; the controllers of Jobs and garbage; nodes that start programs. Requests and
 * answers are checked against the OpenAPI of the real one, pods against the profile `restricted`.
 */
export async function startSmallCluster(options: SmallClusterOptions): Promise<SmallCluster> {
  const { secondMs = 1_000, bookmarkMs = 60_000, images = null } = options;
  const namespace = "agents";
  const store = createObjectStore(namespace);
  const nodes: Node[] = (options.nodes ?? [{ name: "node-1" }]).map((node) => ({
    ...node,
    isSchedulable: true,
    isReady: true,
  }));
  let isAway = false;
  let isStopped = false;
  const kubelet = runPods({
    store,
    nodes,
    start: options.start,
    hasImage: (image) => images === null || images.includes(image),
    retryMs: Math.max(10, secondMs / 10),
    isStopped: () => isStopped,
  });
  controlJobs({
    store,
    secondMs,
    deletePod: (name, grace) => kubelet.deletePod(name, grace),
    admit: options.admit ?? restrictedViolations,
    isStopped: () => isStopped,
  });
  collectGarbage(store, () => isStopped);
  const check = checkAgainst(kubernetesApi());
  const wrongEvents: string[] = [];
  const watches = serveWatches({
    store,
    bookmarkMs,
    onSend: (kind, object) => wrongEvents.push(...check.object(kind, object)),
  });
  const authority = certificateAuthority();
  let token = "";
  const server = await startApiServer({
    store,
    kubelet,
    watches,
    namespace,
    token: () => token,
    check,
    tls: authority.issue("IP:127.0.0.1"),
    rules: options.rules ?? roleRules(),
    isAway: () => isAway,
  });
  const dir = mkdtempSync(join(tmpdir(), "al-kube-"));
  const kubeconfig = join(dir, "config");
  const renewToken = () => {
    token = randomBytes(16).toString("hex");
    const content = configOf(server.port, authority.cert, token, namespace);
    writeFileSync(kubeconfig, content, { mode: 0o600 });
  };
  renewToken();
  return {
    namespace,
    kubeconfig,
    store,
    nodes,
    violations: () => [...server.violations, ...wrongEvents],
    requests: server.requests,
    watchCount: () => watches.count(),
    log: (pod) => kubelet.log(pod),
    away: (away) => {
      isAway = away;
      if (away) watches.endAll();
    },
    endWatches: () => watches.endAll(),
    renewToken,
    drain: (name) => {
      const node = nodes.find((each) => each.name === name);
      if (node !== undefined) node.isSchedulable = false;
      kubelet.drain(name);
    },
    crash: (name) => {
      const node = nodes.find((each) => each.name === name);
      if (node !== undefined) node.isReady = false;
      kubelet.crash(name);
    },
    stop: async () => {
      isStopped = true;
      kubelet.stop();
      await server.close();
      authority.remove();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function configOf(port: number, authority: string, token: string, namespace: string): string {
  const data = Buffer.from(authority).toString("base64");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "small",
    contexts: [{ name: "small", context: { cluster: "small", user: "al", namespace } }],
    clusters: [
      {
        name: "small",
        cluster: { server: `https://127.0.0.1:${port}`, "certificate-authority-data": data },
      },
    ],
    users: [{ name: "al", user: { token } }],
  });
}
