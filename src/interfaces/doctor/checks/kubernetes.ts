import { checkAccess, type Access } from "../../../runtime/cluster/kubernetes/rights.ts";
import { finding, ofError, ok, type Finding } from "../finding.ts";

/** Whether this user may start runs in the cluster of the kubeconfig. Starts none: pulls of images show with the first. */
export async function kubernetesFindings(namespace: string | null): Promise<readonly Finding[]> {
  try {
    const access = await checkAccess({ namespace, kubeconfig: null });
    return [versionFinding(access), accessFinding(access)];
  } catch (error) {
    return [ofError(error, "error", "Kubernetes")];
  }
}

function versionFinding({ version, isSupported, server }: Access): Finding {
  if (isSupported) return ok(`Kubernetes ${version} at ${server}`);
  const text = `Kubernetes ${version} may start a second pod of a run while the first still ends`;
  return finding("warning", text, server, "upgrade it to 1.29 or later");
}

function accessFinding({ namespace, missing, hasNamespace, server }: Access): Finding {
  if (missing.length > 0) {
    const text = `this user lacks rights in the namespace ${namespace}: ${missing.join(", ")}`;
    const fix = `kubectl apply -k examples/kubernetes/runs; kubectl create rolebinding almanac -n ${namespace} --role=almanac --user=<name>`;
    return finding("error", text, server, fix);
  }
  if (hasNamespace)
    return ok(`this user has all rights that runs need in the namespace ${namespace}`);
  const text = `there is no namespace ${namespace}, so no run can start`;
  return finding("error", text, server, `kubectl create namespace ${namespace}`);
}
