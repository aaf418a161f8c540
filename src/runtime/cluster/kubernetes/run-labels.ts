import type { KubernetesObject } from "@kubernetes/client-node";

/** Labels and annotations by which the program finds what it made in a namespace that others use too. */
export const projectLabel = "al.project";
export const runLabel = "al.run";
/** The label of pods that reach the door alone: the network policy selects it. */
export const closedLabel = "al.closed";
/** Annotations, as the value of a label may be too short for them. */
export const agentAnnotation = "al.agent";
export const instanceAnnotation = "al.instance";

/** Null for what is no run's. */
export function runOf({ metadata }: KubernetesObject): { name: string; instanceId: string } | null {
  const name = metadata?.labels?.[runLabel];
  const instanceId = metadata?.annotations?.[instanceAnnotation];
  return name === undefined || instanceId === undefined ? null : { name, instanceId };
}
