import type { Resource } from "./object-store.ts";

export interface Target {
  readonly group: string;
  readonly resource: Resource;
  readonly namespace: string;
  /** Null for all of the namespace. */
  readonly name: string | null;
  /** Such as `log`; null for the object itself. */
  readonly subresource: string | null;
}

export const kinds: Readonly<
  Record<Resource, { readonly group: string; readonly version: string; readonly kind: string }>
> = {
  jobs: { group: "batch", version: "batch/v1", kind: "Job" },
  pods: { group: "", version: "v1", kind: "Pod" },
  secrets: { group: "", version: "v1", kind: "Secret" },
  events: { group: "", version: "v1", kind: "Event" },
  networkpolicies: {
    group: "networking.k8s.io",
    version: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
  },
};

/** What a path names; null for what the small server does not have. */
export function targetOf(path: string): Target | null {
  const pattern =
    /^\/(?:api|apis\/(?<group>[^/]+))\/v1\/namespaces\/(?<namespace>[^/]+)\/(?<resource>[^/]+)(?:\/(?<name>[^/]+)(?:\/(?<sub>[^/]+))?)?$/;
  const { group = "", namespace = "", resource = "", name, sub } = pattern.exec(path)?.groups ?? {};
  if (!isResource(resource) || kinds[resource].group !== group) return null;
  return { group, resource, namespace, name: name ?? null, subresource: sub ?? null };
}

function isResource(name: string): name is Resource {
  return Object.hasOwn(kinds, name);
}

const verbs: Readonly<Record<string, readonly [ofOne: string, ofAll: string]>> = {
  GET: ["get", "list"],
  POST: ["create", "create"],
  PUT: ["update", "update"],
  PATCH: ["patch", "patch"],
  DELETE: ["delete", "deletecollection"],
};

/** The verb of a request, in the words of a role. */
export function verbOf(method: string, { name }: Target): string {
  return verbs[method]?.[name === null ? 1 : 0] ?? method.toLowerCase();
}

/** What a role allows. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

export function isAllowed(rules: readonly Rule[], target: Target, verb: string): boolean {
  const { resource, subresource, group } = target;
  const what = subresource === null ? resource : `${resource}/${subresource}`;
  return rules.some(
    (rule) =>
      rule.apiGroups.includes(group) && rule.resources.includes(what) && rule.verbs.includes(verb),
  );
}
