/** Hosts of this machine and of private networks: names without a dot, and addresses. */
const nearby =
  /^([^.]+|\[.*\]|(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d.]+|.*\.(localhost|local|lan|internal))$/;

/** The address with a scheme: a missing one is `http` on this machine or a private network, else `https`. */
export function withScheme(address: string): string {
  if (/^\w+:\/\//.test(address)) return address;
  const url = URL.parse(`http://${address}`);
  return url === null ? address : `${nearby.test(url.hostname) ? "http" : "https"}://${address}`;
}
