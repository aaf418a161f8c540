// `NODE_OPTIONS=--import=…`: names and addresses of AL_TEST_OUTSIDE stand for the internet; there are no others.
import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const { addresses, ports, origins = {} } = JSON.parse(process.env.AL_TEST_OUTSIDE ?? "{}");
const known = new Set(Object.values(addresses));
const connect = net.connect;

dns.Resolver.prototype.resolve4 = async (host) => {
  if (addresses[host] === undefined) throw new Error(`there is no ${host}`);
  return [addresses[host]];
};
dns.Resolver.prototype.resolve6 = async (host) => {
  throw new Error(`there is no ${host}`);
};
net.connect = (options, ...more) => {
  const { host, port } = options;
  if (!known.has(host)) return connect(options, ...more);
  // Nothing listens on port 1.
  const own = ports[port === 443 ? host : `${host}:${port}`] ?? 1;
  return connect({ ...options, host: "127.0.0.1", port: own }, ...more);
};
syncBuiltinESMExports();

const fetched = globalThis.fetch;
globalThis.fetch = (url, ...more) => {
  const { origin, href } = new URL(url);
  return fetched(
    href.replace(origin, () => origins[origin] ?? origin),
    ...more,
  );
};
