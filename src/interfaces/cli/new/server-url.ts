import { httpUrl } from "../../../foundation/config/fields.ts";
import { withScheme } from "../../../foundation/config/server-address.ts";

/** The URL of a model's server from what a person types, by default with the path `/v1`; null if it is none. */
export function serverUrl(typed: string): string | null {
  const text = typed.trim();
  const url = URL.parse(withScheme(text));
  if (url === null || !httpUrl("").safeParse(url.href).success) return null;
  if (withScheme(text) === text) return text;
  return `${url.origin}${url.pathname === "/" ? "/v1" : url.pathname}${url.search}`;
}

export function serverUrlProblem(typed: string): string | null {
  if (serverUrl(typed) !== null) return null;
  return `${JSON.stringify(typed)} is not the address of a server. Use a URL such as http://localhost:11434/v1`;
}
