import { randomUUID } from "node:crypto";
import type { KubeObject, Metadata } from "./wire-types.ts";

export const resources = ["jobs", "pods", "secrets", "networkpolicies", "events"] as const;
export type Resource = (typeof resources)[number];

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** An object as a client sends it. */
export type NewObject = Omit<KubeObject, "metadata"> & { readonly metadata: Partial<Metadata> };

export function createObjectStore(namespace: string) {
  const empty = resources.map((resource) => [resource, new Map<string, KubeObject>()] as const);
  const objects = new Map<Resource, Map<string, KubeObject>>(empty);
  const of = (resource: Resource) => objects.get(resource) ?? new Map<string, KubeObject>();
  const listeners = new Set<(event: StoreEvent) => void>();
  let version = 1_000;

  function changed(type: StoreEvent["type"], resource: Resource, object: KubeObject): KubeObject {
    version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(version) };
    const after = { ...object, metadata };
    if (type === "DELETED") of(resource).delete(metadata.name);
    else of(resource).set(metadata.name, after);
    for (const listener of listeners) listener({ type, resource, object: after });
    return after;
  }

  return {
    version: (): number => version,
    get: (resource: Resource, name: string): KubeObject | undefined => of(resource).get(name),
    list: (resource: Resource): readonly KubeObject[] => [...of(resource).values()],
    /** Undefined when one of that name is there. */
    create: (resource: Resource, object: NewObject): KubeObject | undefined => {
      const { name = "" } = object.metadata;
      if (of(resource).has(name)) return undefined;
      const creationTimestamp = wireTime(Date.now());
      const own = { name, namespace, uid: randomUUID(), creationTimestamp, resourceVersion: "" };
      return changed("ADDED", resource, { ...object, metadata: { ...object.metadata, ...own } });
    },
    /** Undefined when it is not there. */
    update: (resource: Resource, object: KubeObject): KubeObject | undefined =>
      of(resource).has(object.metadata.name) ? changed("MODIFIED", resource, object) : undefined,
    remove: (resource: Resource, name: string) => {
      const object = of(resource).get(name);
      if (object !== undefined) changed("DELETED", resource, object);
    },
    /** Called after each change, one after another. */
    onChange: (listener: (event: StoreEvent) => void) => void listeners.add(listener),
  };
}

/** What etcd is to an API server: objects, and one version that counts their changes. */
export type ObjectStore = ReturnType<typeof createObjectStore>;

/** Times on the wire have whole seconds. */
export function wireTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
