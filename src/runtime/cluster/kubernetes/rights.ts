import { connectKubernetes, type KubeClient, type KubeClientOptions } from "./kube-client.ts";
import { statusOf, userError } from "./kube-errors.ts";

/** The engine's rights in its namespace; examples/kubernetes/runs/role.yaml has the same. */
export const rights = [
  { group: "batch", resource: "jobs", verbs: ["create", "patch", "delete", "list"] },
  { group: "", resource: "pods", verbs: ["deletecollection", "list"] },
  { group: "", resource: "secrets", verbs: ["create"] },
  { group: "", resource: "events", verbs: ["list"] },
  { group: "networking.k8s.io", resource: "networkpolicies", verbs: ["create", "update"] },
] as const;

/** The first minor version of Kubernetes 1 that never starts the second pod of a Job before the first has ended. */
const oldestMinor = 29;

export interface Access {
  readonly server: string;
  readonly namespace: string;
  readonly version: string;
  readonly isSupported: boolean;
  /** Rights that this user lacks, such as "create jobs". */
  readonly missing: readonly string[];
  readonly hasNamespace: boolean;
}

/** The rights of the kubeconfig's user. Creates no object in the cluster. */
export async function checkAccess(options: KubeClientOptions): Promise<Access> {
  const client = await connectKubernetes(options);
  const { server, namespace } = client;
  try {
    const { gitVersion, major, minor } = await client.version.getCode();
    const missing = await missingRights(client);
    return {
      server,
      namespace,
      missing,
      version: gitVersion,
      isSupported: Number(major) > 1 || Number.parseInt(minor, 10) >= oldestMinor,
      hasNamespace: missing.length > 0 || (await acceptsObjects(client)),
    };
  } catch (error) {
    throw userError(error, server, "say what this user may do");
  }
}

async function missingRights({ authorization, namespace }: KubeClient): Promise<string[]> {
  const asked = rights.flatMap(({ group, resource, verbs }) =>
    verbs.map(async (verb) => {
      const spec = { resourceAttributes: { namespace, group, resource, verb } };
      const review = await authorization.createSelfSubjectAccessReview({ body: { spec } });
      return review.status?.allowed === true ? [] : [`${verb} ${resource}`];
    }),
  );
  return (await Promise.all(asked)).flat();
}

/** By a dry run: a user with this role may not read namespaces. */
async function acceptsObjects({ core, namespace }: KubeClient): Promise<boolean> {
  const body = { metadata: { generateName: "al-doctor-" } };
  try {
    await core.createNamespacedSecret({ namespace, dryRun: "All", body });
    return true;
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
    return false;
  }
}
