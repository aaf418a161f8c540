import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a kubeconfig for this cluster. */
export function writeClusterConfig(path: string, cluster: object, token: string): void {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster }],
    users: [{ name: "user", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "user", namespace: "agents" } }],
    "current-context": "test",
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
}

/** Writes a kubeconfig for a server without TLS of this machine; returns its path. */
export function writeKubeconfig(dir: string, server: string): string {
  const path = join(dir, "kubeconfig");
  writeClusterConfig(path, { server, "insecure-skip-tls-verify": true }, "recorded");
  return path;
}
