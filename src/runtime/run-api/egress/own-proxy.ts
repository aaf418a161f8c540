import { isIP } from "node:net";

/**
 * The proxy that this process's environment names for requests of `scheme` to a host; null for none. As Node reads the
 * variables: lower case first, and an entry of NO_PROXY is a host, `host:port`, `.suffix`, `*.suffix` or `*`.
 */
export function ownProxy(
  env: NodeJS.ProcessEnv,
  scheme: "http" | "https",
  { host, port }: { readonly host: string; readonly port: number },
): URL | null {
  const name = `${scheme}_proxy`;
  const url = URL.parse(env[name] ?? env[name.toUpperCase()] ?? "");
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  const entries = (env.no_proxy ?? env.NO_PROXY ?? "").toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => isExcepted(entry, host, port)) ? null : url;
}

function isExcepted(entry: string, host: string, port: number): boolean {
  if (entry === "*" || entry === host || entry === `[${host}]`) return entry !== "";
  const colon = entry.lastIndexOf(":");
  if (isIP(entry) === 0 && colon > 0) {
    return entry.slice(colon + 1) === String(port) && isExcepted(entry.slice(0, colon), host, port);
  }
  const suffix = entry.replace(/^\*/, "");
  return suffix.startsWith(".") && host.endsWith(suffix);
}
