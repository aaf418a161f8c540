import { connect } from "node:net";
import { allowedHosts } from "../../src/foundation/contracts/network-allow.ts";
import { createEgress } from "../../src/runtime/run-api/egress/egress.ts";
import { createRunSockets } from "../../src/runtime/run-api/run-sockets.ts";
import { hostGateway } from "../runtime/harness/model-host.ts";
import { socketRecords } from "../runtime/run-api/support.ts";
import { answerMemory } from "./held-memory.ts";

/**
 * The scheduler's end of tunnels: the sockets of two runs that may reach one host, whose name leads to a port of this
 * machine. Arguments: that port, the host, a folder for the sockets. Prints the sockets as JSON.
 */
const [port = "", host = "", folder = ""] = process.argv.slice(2);
const onProblem = (message: string) => void process.stderr.write(`${message}\n`);
const policy = { agent: "bench", allow: allowedHosts([host]), ownPort: null, bindings: [] };
const egress = createEgress({
  policy: () => Promise.resolve(policy),
  resolve: () => Promise.resolve(["203.0.113.7"]),
  dial: () =>
    connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: true, noDelay: true }),
  approve: () => Promise.resolve(null),
  isHeld: () => false,
  ownAddresses: () => new Set(),
  proxyEnv: {},
  intercept: () => Promise.reject(new Error("no secret is bound")),
  onAttempt: ({ denied, detail }) => {
    if (denied !== null) onProblem(detail);
  },
  onProblem,
});
const redactor = { add: () => () => undefined };
const sockets = createRunSockets({ records: socketRecords(), redactor, onProblem });
const runApi = { perform: () => Promise.reject(new Error("the benchmark opens tunnels alone")) };
sockets.serve({ runApi, models: hostGateway, egress });
const opened = [];
for (const name of ["bench-1", "bench-2"]) {
  const { path, token } = await sockets.open(name, folder);
  opened.push({ path, token });
}
process.stdout.write(`${JSON.stringify({ opened })}\n`);
answerMemory();
