import { execFileSync } from "node:child_process";

/** Why no network can be closed for a host user here; null when one can. */
export function whyNoNetwork(): string | null {
  const inner = "PATH=$PATH:/usr/sbin; ip link set lo up";
  try {
    execFileSync("unshare", ["--user", "--map-root-user", "--net", "sh", "-c", inner], {
      stdio: "pipe",
    });
    return null;
  } catch {
    return "this kernel or container has no network namespaces";
  }
}
