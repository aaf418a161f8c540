/** Parses `host:port`, where an IPv6 address is in brackets. Throws an error for a person. */
export function hostAndPortOf(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  const port = Number(address.slice(colon + 1));
  if (colon > 0 && host !== "" && Number.isInteger(port) && port > 0 && port < 65_536) {
    return { host, port };
  }
  throw new Error(`"${address}" is not the address of a door. Use host:port.`);
}
