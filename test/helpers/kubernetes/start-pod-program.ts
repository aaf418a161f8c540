import { join } from "node:path";
import type { ObjectStore } from "./object-store.ts";
import type { PodProgram, StartProgram } from "./pod-program.ts";
import { fieldOf } from "./selectors.ts";
import type { EnvVar, Pod, Secret, Volume } from "./wire-types.ts";

/** Starts a pod's program with its secrets; null while one of them is not there, as the node then waits for it. */
export function startPodProgram(
  pod: Pod,
  store: ObjectStore,
  start: StartProgram,
  write: (text: string) => void,
): PodProgram | null {
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error("a pod has a container");
  const files = secretFiles(pod, store);
  if (files === null) return null;
  const env = (container.env ?? []).map((each) => [each.name, valueOf(each, pod)] as const);
  return start({
    name: pod.metadata.name,
    node: pod.spec.nodeName ?? "",
    command: [...(container.command ?? []), ...(container.args ?? [])],
    env: Object.fromEntries(env),
    files,
    write,
  });
}

/** Of the fields that a variable may name, those of the pod itself. */
function valueOf({ value = "", valueFrom }: EnvVar, pod: Pod): string {
  const path = valueFrom?.fieldRef?.fieldPath;
  return path === undefined ? value : String(fieldOf(pod, path));
}

function secretFiles({ spec }: Pod, store: ObjectStore): Record<string, string> | null {
  const mounts = spec.containers[0]?.volumeMounts ?? [];
  const files = (spec.volumes ?? []).map((volume) => {
    const folder = mounts.find(({ name }) => name === volume.name)?.mountPath ?? "/";
    return volume.secret === undefined ? [] : filesOf(volume.secret, folder, store);
  });
  return files.includes(null) ? null : Object.fromEntries(files.flatMap((each) => each ?? []));
}

function filesOf(
  { secretName, items }: NonNullable<Volume["secret"]>,
  folder: string,
  store: ObjectStore,
): [string, string][] | null {
  const { data = {} } = (store.get("secrets", secretName) ?? {}) as Partial<Secret>;
  const wanted = items ?? Object.keys(data).map((key) => ({ key, path: key }));
  if (wanted.some(({ key }) => data[key] === undefined)) return null;
  return wanted.map(({ key, path }) => [
    join(folder, path),
    Buffer.from(data[key] ?? "", "base64").toString(),
  ]);
}
