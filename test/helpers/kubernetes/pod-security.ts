import type { Container, PodSpec } from "./wire-types.ts";

const allowedVolumes = ["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "projected"];
const volumeTypes = new Set([...allowedVolumes, "persistentVolumeClaim", "secret"]);
const seccompTypes = new Set(["RuntimeDefault", "Localhost"]);

/**
 * What the profile `restricted` of the Pod Security Standards has against a pod
 * (https://kubernetes.io/docs/concepts/security/pod-security-standards/): empty for one that it admits.
 */
export function restrictedViolations(spec: PodSpec): readonly string[] {
  const ofPod = [
    ...(spec.hostNetwork === true || spec.hostPID === true || spec.hostIPC === true
      ? ["host namespaces"]
      : []),
    ...(spec.volumes ?? []).flatMap((volume) =>
      Object.keys(volume).some((key) => key !== "name" && !volumeTypes.has(key))
        ? [`restricted volume types (volume "${volume.name}")`]
        : [],
    ),
  ];
  const all = [...ofPod, ...spec.containers.flatMap((container) => ofContainer(container, spec))];
  return all.length === 0 ? [] : [`violates PodSecurity "restricted:latest": ${all.join(", ")}`];
}

function ofContainer({ name, securityContext = {} }: Container, spec: PodSpec): string[] {
  const { privileged, allowPrivilegeEscalation, capabilities, runAsUser } = securityContext;
  const runAsNonRoot = securityContext.runAsNonRoot ?? spec.securityContext?.runAsNonRoot;
  const seccomp = securityContext.seccompProfile ?? spec.securityContext?.seccompProfile;
  const added = (capabilities?.add ?? []).filter((each) => each !== "NET_BIND_SERVICE");
  const rules: [boolean, string][] = [
    [privileged === true, "privileged"],
    [allowPrivilegeEscalation !== false, "allowPrivilegeEscalation != false"],
    [capabilities?.drop?.includes("ALL") !== true, "unrestricted capabilities"],
    [added.length > 0, "added capabilities"],
    [runAsNonRoot !== true, "runAsNonRoot != true"],
    [runAsUser === 0, "runAsUser=0"],
    [!seccompTypes.has(seccomp?.type ?? ""), "seccompProfile"],
  ];
  return rules.flatMap(([isBroken, rule]) => (isBroken ? [`${rule} (container "${name}")`] : []));
}
