import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";

export const example = join(import.meta.dirname, "../../examples/kubernetes");
const placeholder = "registry.example.com/team/almanac:0.1.0";

/** A copy of the example, and an overlay with what most clusters have and this one has not: a volume, and DNS. */
export function exampleOverlay(cluster: LiveCluster) {
  const base = join(cluster.dir, "example");
  const dir = join(cluster.dir, "overlay");
  const volume = join(cluster.dir, "volume");
  const ip = `10.79.${basename(cluster.dir)}.50`;
  cpSync(example, base, { recursive: true });
  mkdirSync(dir);
  mkdirSync(volume);
  chmodSync(volume, 0o777);
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
  let image = placeholder;
  return {
    dir,
    volume: join(dir, "volume.yaml"),
    /** Address of its Service. */
    ip,
    /** Writes the image's name into both files, as the page says. */
    useImage: (name: string): void => {
      const [from, to] = [image.split(":"), name.split(":")];
      for (const file of ["kustomization.yaml", "config.toml"]) {
        const text = readFileSync(join(base, file), "utf8");
        const own = text.replace(from[0] ?? "", to[0] ?? "").replace(from[1] ?? "", to[1] ?? "");
        writeFileSync(join(base, file), own);
      }
      image = name;
    },
  };
}

function patch(kind: string, path: string, value: unknown): object {
  return { target: { kind, name: "almanac" }, patch: JSON.stringify([{ op: "add", path, value }]) };
}
