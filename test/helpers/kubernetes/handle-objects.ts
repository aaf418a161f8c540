import { refusals, success } from "./answers.ts";
import type { Kubelet } from "./kubelet.ts";
import type { NewObject, ObjectStore, Resource } from "./object-store.ts";
import { kinds } from "./routes.ts";
import type { Target } from "./routes.ts";
import { isSelected } from "./selectors.ts";
import type { KubeObject } from "./wire-types.ts";

export interface ObjectHandlers {
  readonly store: ObjectStore;
  readonly kubelet: Kubelet;
}

export interface Answer {
  readonly code: number;
  readonly body: unknown;
}

/** What an API server does for one request. Throws a Refusal. */
export function handleObjects(
  handlers: ObjectHandlers,
  target: Target,
  verb: string,
  query: URLSearchParams,
  body: unknown,
): Answer {
  const { store } = handlers;
  const { resource, name, namespace } = target;
  const what = `${resource} "${name ?? ""}"`;
  const found = () => {
    const object = store.get(resource, name ?? "");
    if (object === undefined) throw refusals.notFound(what);
    return object;
  };
  switch (verb) {
    case "list":
      return { code: 200, body: listOf(store, resource, query) };
    case "create":
      return { code: 201, body: create(store, resource, namespace, body as NewObject) };
    case "update": {
      const given = body as KubeObject;
      // It has no version, so the last one wins.
      const { uid, creationTimestamp } = found().metadata;
      const own = { ...given.metadata, uid, creationTimestamp, namespace };
      return { code: 200, body: store.update(resource, { ...given, metadata: own }) };
    }
    case "patch":
      return { code: 200, body: store.update(resource, merged(found(), body) as KubeObject) };
    case "delete":
      return { code: 200, body: remove(handlers, resource, found(), query) };
    case "deletecollection": {
      const all = store.list(resource).filter((object) => isSelected(object, query));
      for (const object of all) remove(handlers, resource, object, query);
      return { code: 200, body: success() };
    }
    default:
      throw refusals.badRequest(`the small API server knows no ${verb}`);
  }
}

function listOf(store: ObjectStore, resource: Resource, query: URLSearchParams): object {
  const { version, kind } = kinds[resource];
  return {
    kind: `${kind}List`,
    apiVersion: version,
    metadata: { resourceVersion: String(store.version()) },
    items: store.list(resource).filter((object) => isSelected(object, query)),
  };
}

/** A JSON merge patch (RFC 7386). */
function merged(value: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const before = isObject(value) ? value : {};
  const entries = Object.entries(patch).map(([key, part]): [string, unknown] => [
    key,
    merged(before[key], part),
  ]);
  const after: Record<string, unknown> = { ...before, ...Object.fromEntries(entries) };
  return Object.fromEntries(Object.entries(after).filter(([, part]) => part !== null));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const nameFormat = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const labelFormat = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

function create(
  store: ObjectStore,
  resource: Resource,
  namespace: string,
  object: NewObject,
): KubeObject {
  const { version, kind } = kinds[resource];
  const { name = "", labels = {} } = object.metadata;
  if (object.apiVersion !== version || object.kind !== kind)
    throw refusals.badRequest(`the object is ${object.apiVersion} ${object.kind}`);
  if ((object.metadata.namespace ?? namespace) !== namespace)
    throw refusals.badRequest("the namespace of the object does not match the request");
  if (!nameFormat.test(name)) throw refusals.badRequest(`metadata.name: Invalid value: "${name}"`);
  const wrong = Object.values(labels).find((label) => !labelFormat.test(label));
  if (wrong !== undefined) throw refusals.badRequest(`metadata.labels: Invalid value: "${wrong}"`);
  const created = store.create(resource, object);
  if (created === undefined) throw refusals.alreadyExists(`${resource} "${name}"`);
  return created;
}

function remove(
  { store, kubelet }: ObjectHandlers,
  resource: Resource,
  object: KubeObject,
  query: URLSearchParams,
): unknown {
  const { name, uid } = object.metadata;
  const grace = query.get("gracePeriodSeconds");
  if (resource === "pods") kubelet.deletePod(name, grace === null ? null : Number(grace));
  else {
    // As it always was for Jobs of batch/v1: without a word on it, its pods stay.
    if (resource === "jobs" && query.get("propagationPolicy") !== "Background") orphan(store, uid);
    store.remove(resource, name);
  }
  return resource === "pods" ? (store.get(resource, name) ?? object) : success();
}

function orphan(store: ObjectStore, uid: string): void {
  for (const resource of ["pods", "secrets"] as const)
    for (const object of store.list(resource)) {
      const owners = object.metadata.ownerReferences ?? [];
      const ownerReferences = owners.filter((owner) => owner.uid !== uid);
      if (ownerReferences.length !== owners.length)
        store.update(resource, { ...object, metadata: { ...object.metadata, ownerReferences } });
    }
}
