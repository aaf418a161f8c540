import { withoutEndSlashes } from "../../../foundation/contracts/plain-text.ts";
import type { UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import type { Route, WireApi } from "./wire-api.ts";
import { wireApis } from "./wire-apis.ts";

/** `/model/<name>/<upstream host>/<rest of the provider's path>?<query>`. */
export interface Address {
  /** The model's name in the project's config. */
  readonly name: string;
  /** Includes the port if the address has one. pi derives a server's compatibility settings from this host. */
  readonly host: string;
  /** With a slash in front. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Null for an address of another form. */
export function parseAddress(url: string): Address | null {
  const [, path = "", query = ""] = /^([^?]*)(?:\?(.*))?$/s.exec(url) ?? [];
  const [, name, host, rest = ""] = /^\/model\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  if (name === undefined || host === undefined) return null;
  try {
    return {
      name: decodeURIComponent(name),
      host: decodeURIComponent(host).toLowerCase(),
      path: rest,
      query: new URLSearchParams(query),
    };
  } catch {
    return null;
  }
}

/** Maps an address to its operation and the provider's URL. Throws a GatewayProblem if the operation isn't allowed. */
export function upstreamRoute(
  method: string,
  address: Address,
  model: UpstreamModel,
): { readonly route: Route; readonly url: URL } {
  const base = model.script === null ? new URL(model.baseUrl) : scriptedUrl(address.host);
  if (address.host !== base.host) {
    throw notAllowed(`model "${model.name}" is at ${base.host}, not at ${address.host}`);
  }
  const basePath = withoutEndSlashes(base.pathname);
  const isBelow = address.path.startsWith(`${basePath}/`);
  const path = address.path.slice(basePath.length);
  const route = isBelow ? wireApis[model.api].route(path, address.query, model) : null;
  if (method !== "POST" || route === null) {
    const asked = `${method} ${address.path}`;
    throw notAllowed(`the gateway forwards no ${asked} to an API of type ${model.api}`, 404);
  }
  const url = new URL(base);
  url.pathname = basePath + route.path;
  for (const [field, value] of Object.entries(route.query)) url.searchParams.set(field, value);
  return { route, url };
}

/** The shape of an error for an address whose model is not known. */
export function shapeOf(path: string): WireApi {
  if (/\/messages(\/count_tokens)?$/.test(path)) return wireApis["anthropic-messages"];
  return wireApis[/\/models\/[^/]+$/.test(path) ? "google-generative-ai" : "openai-completions"];
}

/** A scripted model accepts any host, under the path of its API. */
function scriptedUrl(host: string): URL {
  const url = new URL("http://scripted/v1");
  url.host = host;
  return url;
}

function notAllowed(message: string, status?: number): GatewayProblem {
  return new GatewayProblem("not_allowed", message, { status });
}
