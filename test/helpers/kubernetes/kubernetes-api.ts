import type { ApiDocument } from "./api-document.ts";
import { generatedApi } from "./generated-api.ts";
import { publishedApi } from "./published-api.ts";

const apis = ["BatchV1Api", "CoreV1Api", "NetworkingV1Api", "VersionApi"];
const kinds = ["V1Job", "V1Pod", "V1Secret", "V1NetworkPolicy", "CoreV1Event", "V1Status"];

/**
 * What requests are checked against: the document at `AL_KUBERNETES_OPENAPI`, where one is, such as `swagger.json` of
 * the cluster's release; else what the official client was generated from.
 */
export function kubernetesApi(path = process.env.AL_KUBERNETES_OPENAPI ?? ""): ApiDocument {
  return path === "" ? generatedApi(apis, kinds) : publishedApi(path);
}
