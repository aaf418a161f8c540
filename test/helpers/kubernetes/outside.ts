import { execFileSync } from "node:child_process";
import type { SwarmNetwork } from "../swarm/network.ts";
import { startProcess } from "../own-process.ts";

/** Addresses of the internet's stand-in: one of a web server, and that of clouds' metadata. */
export const outsideAddresses = ["203.0.113.9", "169.254.169.254"] as const;

/** Answers on ports 80 (TCP) and 53 (UDP) of all its addresses. */
const program = `
require("net").createServer((socket) => socket.on("error", () => {}).end("outside\\n")).listen(80);
for (const address of ${JSON.stringify(outsideAddresses)})
  require("dgram").createSocket("udp4", function (message, from) { this.send("outside\\n", from.port, from.address); }).bind(53, address);
`;

/** Makes the last machine of the network one that stands for all that is outside of the cluster. */
export function startOutside(network: SwarmNetwork, number: number, dir: string) {
  const namespace = network.namespace(number);
  for (const address of outsideAddresses) {
    execFileSync("ip", ["-n", namespace, "addr", "add", `${address}/32`, "dev", "lo"]);
    for (let node = 1; node < number; node++) {
      const route = ["route", "add", address, "via", network.address(number)];
      execFileSync("ip", ["-n", network.namespace(node), ...route]);
    }
  }
  const inside = ["ip", "netns", "exec", namespace, process.execPath];
  return startProcess("outside", dir, [...inside, "-e", program]);
}
