import type { KubernetesObject, V1Job, V1Pod } from "@kubernetes/client-node";
import type { KubeClient } from "./kube-client.ts";
import type { ObjectSource, Phase } from "./list-and-watch.ts";
import { projectLabel } from "./run-labels.ts";

/** The server ends a watch after this, in seconds, so that a client that went away costs it nothing for long. */
const watchSeconds = 300;

export function jobSource(client: KubeClient, project: string): ObjectSource<V1Job> {
  const { batch, namespace } = client;
  const labelSelector = `${projectLabel}=${project}`;
  return {
    list: () => batch.listNamespacedJob({ namespace, labelSelector }),
    watch: watching(client, `/apis/batch/v1/namespaces/${namespace}/jobs`, labelSelector),
  };
}

export function podSource(client: KubeClient, project: string): ObjectSource<V1Pod> {
  const { core, namespace } = client;
  const labelSelector = `${projectLabel}=${project}`;
  return {
    list: () => core.listNamespacedPod({ namespace, labelSelector }),
    watch: watching(client, `/api/v1/namespaces/${namespace}/pods`, labelSelector),
  };
}

function watching<T extends KubernetesObject>(
  { watch }: KubeClient,
  path: string,
  labelSelector: string,
): ObjectSource<T>["watch"] {
  return (resourceVersion, onEvent, done) =>
    watch.watch(
      path,
      {
        labelSelector,
        resourceVersion,
        allowWatchBookmarks: true,
        timeoutSeconds: watchSeconds,
      },
      (phase, object: T) => onEvent(phase as Phase, object),
      done,
    );
}
