import { httpUrl } from "../../../foundation/config/fields.ts";

/** Hosts of this machine and of private networks: names without a dot, and addresses. */
const nearby =
  /^([^.]+|\[.*\]|(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d.]+|.*\.(localhost|local|lan|internal))$/;

/**
 * The URL of a model's server from what a person types; null if it is none. Without a scheme it gets `http` on this machine or
 * a private network and `https` elsewhere, and the path `/v1` if it has none.
 */
export function serverUrl(typed: string): string | null {
  const text = typed.trim();
  const isWhole = /^\w+:\/\//.test(text);
  const url = URL.parse(isWhole ? text : `http://${text}`);
  if (url === null || !httpUrl("").safeParse(url.href).success) return null;
  if (isWhole) return text;
  const scheme = nearby.test(url.hostname) ? "http" : "https";
  const path = url.pathname === "/" ? "/v1" : url.pathname;
  return `${scheme}://${url.host}${path}${url.search}`;
}

export function serverUrlProblem(typed: string): string | null {
  if (serverUrl(typed) !== null) return null;
  return `${JSON.stringify(typed)} is not an address of a server; use a URL such as http://localhost:11434/v1`;
}
