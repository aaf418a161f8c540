import { connectionHeaders } from "../../wire/http-proxy.ts";

/**
 * The headers of a request for its host, names and values alternately; null if the body's transfer coding can't be
 * forwarded. Leaves out Host, which the caller derives from the address.
 */
export function requestLines(raw: readonly string[]): string[] | null {
  const codings = pairs(raw).filter(([name]) => name.toLowerCase() === "transfer-encoding");
  if (codings.some(([, value]) => value.trim().toLowerCase() !== "chunked")) return null;
  const kept = endToEnd(raw).filter(([name]) => name.toLowerCase() !== "host");
  const own = codings.length > 0 ? ["transfer-encoding", "chunked"] : [];
  return [...kept.flat(), ...own, "connection", "close"];
}

/** The headers of a host's answer for the run. */
export function responseLines(raw: readonly string[]): string[] {
  return endToEnd(raw).flat();
}

/** Drops the connection's own headers and those that `connection` names, except `content-length`. */
function endToEnd(raw: readonly string[]): [string, string][] {
  const all = pairs(raw);
  const named = all
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.toLowerCase().split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "content-length");
  const dropped = new Set([...connectionHeaders, ...named]);
  return all.filter(([name]) => !dropped.has(name.toLowerCase()));
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ""]] : []));
}
