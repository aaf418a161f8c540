import { BlockList } from "node:net";
import { networkInterfaces } from "node:os";

export interface AddressRules {
  /** Whether the entry of the allow list is marked `private`. */
  readonly isPrivate: boolean;
  readonly port: number;
  /** The gateway's port; null if it doesn't listen. */
  readonly ownPort: number | null;
  /** Addresses of this machine. */
  readonly own: ReadonlySet<string>;
}

/** Addresses that no entry allows: multicast, cloud metadata, IPv4 addresses embedded in IPv6. */
const isRefused = networksOf([
  "0.0.0.0/8",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // The first network contains the metadata of Oracle Cloud; then those of Alibaba Cloud and Azure.
  "192.0.0.0/24",
  "100.100.100.200/32",
  "168.63.129.16/32",
  // Relays of 6to4.
  "192.88.99.0/24",
  // Unspecified, loopback and IPv4-compatible; mapped; translated (NAT64); 6to4; Teredo.
  "::/96",
  "::ffff:0:0/96",
  "::ffff:0:0:0/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "2002::/16",
  "2001::/32",
  // Discarded, link-local, site-local, multicast.
  "100::/64",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
  // Metadata of AWS and of Google Cloud.
  "fd00:ec2::/32",
  "fd20:ce::/32",
]);

/** Private networks: only an entry marked `private` allows them. */
const isInPrivateNetwork = networksOf([
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "198.18.0.0/15",
  "fc00::/7",
]);

/** Why an address may not be dialled; null if it may. */
export function addressProblem(
  address: string,
  { isPrivate, port, ownPort, own }: AddressRules,
): "refused_address" | "private_address" | null {
  if (address.includes("%") || isRefused(address)) return "refused_address";
  const isOwn = own.has(address);
  if (isOwn && port === ownPort) return "refused_address";
  const needsEntry = isOwn || isInPrivateNetwork(address);
  return needsEntry && !isPrivate ? "private_address" : null;
}

/** The addresses of this machine's interfaces, as of now. */
export function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.map(({ address }) => address));
}

/** Uses a list for each family: a common list would treat IPv4 addresses as IPv4-mapped IPv6 addresses. */
function networksOf(networks: readonly string[]): (address: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    const family = familyOf(address);
    lists[family].addSubnet(address, Number(prefix), family);
  }
  return (address) => lists[familyOf(address)].check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}
