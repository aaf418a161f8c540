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
import type { StartProgram } from "./pod-program.ts";
import { restrictedViolations } from "./pod-security.ts";
import { roleRules } from "./role-rules.ts";
import type { Rule } from "./routes.ts";
import type { PodSpec } from "./wire-types.ts";

const check = checkAgainst(kubernetesApi());

export interface SmallClusterOptions {
  /** How a pod's program is started: as a process, or as a function for a thousand of them. */
  readonly start: StartProgram;
  readonly nodes?: readonly NodeSpec[];
  /** Images that can be had; null for all. */
  readonly images?: readonly string[] | null;
  /** How long a second of deadlines and times to live is, in ms. */
  readonly secondMs?: number;
  /** What the cluster has against a pod, such as a quota; what the profile `restricted` has without it. */
  readonly admit?: (spec: PodSpec) => readonly string[];
  /** What the client's user may do; the role of the docs without it. */
  readonly rules?: readonly Rule[];
}

/**
 * A Kubernetes of one process: an API server with jobs, pods, secrets, network policies and events; the controllers of
 * Jobs and garbage; nodes that start programs. Requests and answers are checked against the OpenAPI of the real one, pods
 * against the profile `restricted`.
 */
export async function startSmallCluster(options: SmallClusterOptions) {
  const { secondMs = 1_000, images = null } = options;
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
  const authority = certificateAuthority();
  let token = "";
  const server = await startApiServer({
    store,
    kubelet,
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
    /** Path of a kubeconfig for it. */
    kubeconfig,
    store,
    nodes,
    /** What the OpenAPI of a real one has against requests and answers. */
    violations: (): readonly string[] => server.violations,
    requests: server.requests,
    /** Answers no request until it is back. */
    away: (away: boolean) => void (isAway = away),
    /** Writes another token into the kubeconfig; the one before is worth nothing. */
    renewToken,
    drain: (name: string) => {
      const node = nodes.find((each) => each.name === name);
      if (node !== undefined) node.isSchedulable = false;
      kubelet.drain(name);
    },
    /** The node loses its power. */
    crash: (name: string) => {
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
