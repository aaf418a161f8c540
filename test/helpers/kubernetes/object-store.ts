import { randomUUID } from "node:crypto";
import type { KubeObject, Metadata } from "./wire-types.ts";

export const resources = ["jobs", "pods", "secrets", "networkpolicies", "events"] as const;
export type Resource = (typeof resources)[number];

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resource: Resource;
  readonly version: number;
  readonly object: KubeObject;
}

/** An object as a client sends it. */
export type NewObject = Omit<KubeObject, "metadata"> & { readonly metadata: Partial<Metadata> };

/** What etcd is to an API server: objects, one version that counts their changes, and the changes of late. */
export interface ObjectStore {
  readonly version: () => number;
  get(resource: Resource, name: string): KubeObject | undefined;
  list(resource: Resource): readonly KubeObject[];
  /** Undefined when one of that name is there. */
  create(resource: Resource, object: NewObject): KubeObject | undefined;
  /** Undefined when it is not there. */
  update(resource: Resource, object: KubeObject): KubeObject | undefined;
  remove(resource: Resource, name: string): void;
  /** The changes after a version; null when some of them are forgotten. */
  since(version: number): readonly StoreEvent[] | null;
  /** Called after each change, one after another. */
  onChange(listener: (event: StoreEvent) => void): () => void;
  /** Forgets all changes, as etcd does after some minutes. */
  compact(): void;
}

/** Changes that are remembered: as many as a small cluster's cache has of one kind. */
const rememberedChanges = 2_000;

export function createObjectStore(namespace: string): ObjectStore {
  const empty = resources.map((resource) => [resource, new Map<string, KubeObject>()] as const);
  const objects = new Map<Resource, Map<string, KubeObject>>(empty);
  const of = (resource: Resource) => objects.get(resource) ?? new Map<string, KubeObject>();
  const listeners = new Set<(event: StoreEvent) => void>();
  let version = 1_000;
  let changes: StoreEvent[] = [];
  let forgotten = version;

  function changed(type: StoreEvent["type"], resource: Resource, object: KubeObject): KubeObject {
    version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(version) };
    const after = { ...object, metadata };
    if (type === "DELETED") of(resource).delete(metadata.name);
    else of(resource).set(metadata.name, after);
    const event: StoreEvent = { type, resource, version, object: after };
    changes.push(event);
    if (changes.length > 2 * rememberedChanges) forget(changes.length - rememberedChanges);
    for (const listener of listeners) listener(event);
    return after;
  }

  function forget(count: number): void {
    forgotten = changes[count - 1]?.version ?? forgotten;
    changes = changes.slice(count);
  }

  return {
    version: () => version,
    get: (resource, name) => of(resource).get(name),
    list: (resource) => [...of(resource).values()],
    create: (resource, object) => {
      const { name = "" } = object.metadata;
      if (of(resource).has(name)) return undefined;
      const creationTimestamp = wireTime(Date.now());
      const own = { name, namespace, uid: randomUUID(), creationTimestamp, resourceVersion: "" };
      return changed("ADDED", resource, { ...object, metadata: { ...object.metadata, ...own } });
    },
    update: (resource, object) =>
      of(resource).has(object.metadata.name) ? changed("MODIFIED", resource, object) : undefined,
    remove: (resource, name) => {
      const object = of(resource).get(name);
      if (object !== undefined) changed("DELETED", resource, object);
    },
    since: (from) => (from < forgotten ? null : changes.filter((each) => each.version > from)),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    compact: () => {
      version += 1;
      forgotten = version;
      changes = [];
    },
  };
}

/** Times on the wire have whole seconds. */
export function wireTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
