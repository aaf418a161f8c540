import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a kubeconfig for a server without TLS of this machine; returns its path. */
export function writeKubeconfig(dir: string, server: string): string {
  const path = join(dir, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "user", user: { token: "recorded" } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "user", namespace: "agents" } }],
    "current-context": "test",
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}
