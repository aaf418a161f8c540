import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { EgressAttempt } from "../../../src/foundation/contracts/network-allow.ts";
import { allowedHosts } from "../../../src/foundation/contracts/network-allow.ts";
import { dialDirect } from "../../../src/runtime/run-api/egress/dial.ts";
import { createEgress } from "../../../src/runtime/run-api/egress/egress.ts";

/** What a scheduler does with a run's CONNECT. */
type OnConnect = (request: IncomingMessage, client: Socket, head: Buffer) => void;

/**
 * The scheduler's own proxy, for runs that may reach these hosts (`host:port`) on their ports of this machine. To the
 * proxy each has a public address. `attempts` gets what it reports.
 */
export function tunnelsTo(
  ports: Readonly<Record<string, number>>,
  attempts: EgressAttempt[],
): OnConnect {
  const hosts = Object.entries(ports).map(([entry, port], index) => {
    const [name = "", asked = ""] = entry.split(":");
    return { name, asked: Number(asked), address: `203.0.113.${index + 1}`, port };
  });
  const egress = createEgress({
    policy: () =>
      Promise.resolve({
        agent: "dev",
        ownPort: null,
        bindings: [],
        allow: allowedHosts(Object.keys(ports)),
      }),
    resolve: (name) =>
      Promise.resolve(hosts.filter((host) => host.name === name).map(({ address }) => address)),
    dial: (address, port) => {
      const found = hosts.find((host) => host.address === address && host.asked === port);
      return dialDirect("127.0.0.1", found?.port ?? 1);
    },
    approve: () => Promise.resolve(null),
    isHeld: () => false,
    ownAddresses: () => new Set(),
    proxyEnv: {},
    intercept: () => Promise.reject(new Error("no secret is bound")),
    onAttempt: (attempt) => attempts.push(attempt),
    onProblem: (message) => void process.stderr.write(`${message}\n`),
  });
  const run = { instanceId: "dev-abcdefgh", tunnels: new Set<AbortController>() };
  return (request, client, head) => {
    const isRun = /^Bearer run-\d+$/.test(request.headers["proxy-authorization"] ?? "");
    if (isRun) egress.connect(run, request, client, head);
    else client.destroy();
  };
}
