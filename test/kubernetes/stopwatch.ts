import { CoreV1Api, KubeConfig, type V1Pod } from "@kubernetes/client-node";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { pause } from "../helpers/pause.ts";

/** Prints each part as it ends. */
export function stopwatch(what: string) {
  let last = Date.now();
  const parts: string[] = [];
  return {
    part: (name: string, at = Date.now()): void => {
      parts.push(`${name} ${Math.round(at - last)} ms`);
      last = at;
    },
    print: () => process.stdout.write(`${what}: ${parts.join(", ")}\n`),
  };
}

/** Resolves when the first pod with the label (`app=almanac`, or `al.run` for any value) is as it should be. */
export function podWatch(cluster: LiveCluster, labelSelector: string) {
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromFile(cluster.kubeconfig("admin"));
  const pods = kubeconfig.makeApiClient(CoreV1Api);
  return async (isRight: (pod: V1Pod) => boolean): Promise<void> => {
    for (;;) {
      const { items } = await pods.listNamespacedPod({ namespace: "agents", labelSelector });
      if (items[0] !== undefined && isRight(items[0])) return;
      await pause(20, "it is asked again");
    }
  };
}
