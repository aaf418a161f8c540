import { execFileSync } from "node:child_process";

const prefixOf = (slot: number) => `als${slot}`;

export function createNetwork(slot: number, nodes: number) {
  const prefix = prefixOf(slot);
  const addressOf = (node: number) => `10.77.${slot}.${node}`;
  const host = addressOf(254);
  const bridge = `${prefix}br`;
  removeNetwork(slot);
  ip("link", "add", bridge, "type", "bridge");
  ip("addr", "add", `${host}/24`, "dev", bridge);
  ip("link", "set", bridge, "up");
  // An engine on this machine has forwarding refused by default, and bridged packets are filtered, too.
  iptables("-I", bridge);
  for (let node = 1; node <= nodes; node++) {
    const namespace = `${prefix}n${node}`;
    ip("netns", "add", namespace);
    ip("link", "add", `${namespace}h`, "type", "veth", "peer", "name", "eth0", "netns", namespace);
    ip("link", "set", `${namespace}h`, "master", bridge, "up");
    ip("-n", namespace, "link", "set", "lo", "up");
    ip("-n", namespace, "addr", "add", `${addressOf(node)}/24`, "dev", "eth0");
    ip("-n", namespace, "link", "set", "eth0", "up");
    ip("-n", namespace, "route", "add", "default", "via", host);
  }
  return {
    /** This machine's own address on the bridge: by it nodes reach what the tests listen on. */
    host,
    /** A node's address; nodes count from 1. */
    address: addressOf,
    /** The name of its network namespace. */
    namespace: (node: number): string => `${prefix}n${node}`,
    /** Takes a node's cable out, or plugs it in again. */
    connect: (node: number, connected: boolean) =>
      ip("link", "set", `${prefix}n${node}h`, connected ? "up" : "down"),
  };
}

/** A bridge on this machine and, for each node, a network namespace that is connected to it. */
export type SwarmNetwork = ReturnType<typeof createNetwork>;

/** Removes what there is of a slot's network, also after a test run that was killed. */
export function removeNetwork(slot: number): void {
  const prefix = prefixOf(slot);
  const own = new RegExp(`^${prefix}n\\d+$`);
  const namespaces = quiet("ip", "netns", "list").split(/\s+/);
  for (const name of namespaces.filter((each) => own.test(each))) {
    quiet("ip", "link", "del", `${name}h`);
    quiet("ip", "netns", "del", name);
  }
  try {
    for (;;) iptables("-D", `${prefix}br`);
  } catch {
    // The last one is gone.
  }
  quiet("ip", "link", "del", `${prefix}br`);
}

function ip(...args: readonly string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}

function iptables(action: "-I" | "-D", bridge: string): void {
  const args = ["-w", action, "FORWARD", "-i", bridge, "-j", "ACCEPT"];
  execFileSync("iptables", args, { stdio: ["ignore", "ignore", "pipe"] });
}

/** The command's output; empty if it failed. */
function quiet(program: string, ...args: readonly string[]): string {
  try {
    return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return "";
  }
}
