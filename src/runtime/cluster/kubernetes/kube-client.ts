import type {
  AuthorizationV1Api,
  BatchV1Api,
  CoreV1Api,
  KubeConfig,
  Middleware,
  NetworkingV1Api,
  RequestContext,
  setHeaderOptions,
  VersionApi,
} from "@kubernetes/client-node";
import { messageOf, Problem } from "../../../foundation/errors.ts";

/** The API server of the kubeconfig, through the official client. */
export interface KubeClient {
  readonly batch: BatchV1Api;
  readonly core: CoreV1Api;
  readonly networking: NetworkingV1Api;
  readonly authorization: AuthorizationV1Api;
  readonly version: VersionApi;
  /** Options of a request whose body has only the changed fields (RFC 7386). */
  readonly mergePatch: ReturnType<typeof setHeaderOptions>;
  readonly namespace: string;
  /** Address of the server, for a person. */
  readonly server: string;
}

export interface KubeClientOptions {
  /** Null for the namespace of the context. */
  readonly namespace: string | null;
  /** File of the kubeconfig; null for `KUBECONFIG`, `~/.kube/config`, or the service account of a pod. */
  readonly kubeconfig: string | null;
}

/** Timeout of requests with an immediate answer, in ms. */
const callTimeoutMs = 30_000;
/** How long requests share one pool of connections, in ms. */
const sharedMs = 60_000;

/** Loads the client, which takes a third of a second, and reads the kubeconfig. Does not connect yet. */
export async function connectKubernetes(options: KubeClientOptions): Promise<KubeClient> {
  const kube = await import("@kubernetes/client-node");
  const config = new kube.KubeConfig();
  try {
    if (options.kubeconfig === null) config.loadFromDefault();
    else config.loadFromFile(options.kubeconfig);
  } catch (error) {
    throw noConfig(messageOf(error), error);
  }
  const cluster = config.getCurrentCluster();
  // The client's last resort, an API server without authentication on this machine, is never meant.
  const isFallback = config.getCurrentContext() === "loaded-context" && config.users.length === 1;
  if (cluster === null || (isFallback && cluster.server === "http://localhost:8080"))
    throw noConfig("no context is set");
  const api = kube.createConfiguration({
    baseServer: new kube.ServerConfiguration(cluster.server, {}),
    authMethods: { default: config },
    promiseMiddleware: [forAllRequests()],
  });
  return {
    batch: new kube.BatchV1Api(api),
    core: new kube.CoreV1Api(api),
    networking: new kube.NetworkingV1Api(api),
    authorization: new kube.AuthorizationV1Api(api),
    version: new kube.VersionApi(api),
    namespace: options.namespace ?? namespaceOf(config),
    server: cluster.server,
    mergePatch: kube.setHeaderOptions("Content-Type", kube.PatchStrategy.MergePatch),
  };
}

/**
 * Requests share connections. By default, the client makes a pool for each request, and so a TLS handshake. After a
 * minute a new pool is used, as certificates of clients are renewed.
 */
function forAllRequests(): Middleware {
  let shared: ReturnType<RequestContext["getDispatcher"]>;
  let sharedAt = -Infinity;
  return {
    pre: (request) => {
      request.setSignal(AbortSignal.timeout(callTimeoutMs));
      if (performance.now() - sharedAt > sharedMs) {
        shared = request.getDispatcher();
        sharedAt = performance.now();
      }
      if (shared !== undefined) request.setDispatcher(shared);
      return Promise.resolve(request);
    },
    post: (response) => Promise.resolve(response),
  };
}

function namespaceOf(config: KubeConfig): string {
  return config.getContextObject(config.getCurrentContext())?.namespace ?? "default";
}

function noConfig(reason: string, cause?: unknown): Problem {
  return new Problem("engine_unreachable", `the kubeconfig cannot be used: ${reason}`, {
    hint: "set KUBECONFIG to a file whose current context is the cluster, or write it to ~/.kube/config",
    cause,
  });
}
