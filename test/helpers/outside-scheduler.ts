/**
 * A scheduler whose names and addresses are given: `node outside-scheduler.ts <json>`. Runs until SIGTERM. A process of its
 * own, so that it can be killed.
 */
import { dialDirect } from "../../src/runtime/run-api/egress/dial.ts";
import { startScheduler } from "../../src/start/start.ts";

/** The argument. */
export interface Outside {
  readonly projectDir: string;
  /** The address of each name. */
  readonly addresses: Readonly<Record<string, string>>;
  /** The port of 127.0.0.1 that stands for port 443 of each address, or for `address:port`. */
  readonly ports: Readonly<Record<string, number>>;
  /** Whether its gateway listens on a port, whatever the project has. */
  readonly webUi?: boolean;
}

const {
  projectDir,
  addresses,
  ports,
  webUi = false,
} = JSON.parse(process.argv[2] ?? "{}") as Outside;
const scheduler = await startScheduler({
  projectDir,
  webUi,
  port: 0,
  graceSeconds: 5,
  env: process.env,
  log: ({ msg }) => void process.stderr.write(`${msg}\n`),
  egress: {
    resolve: (host) => {
      const address = addresses[host];
      return address === undefined
        ? Promise.reject(new Error(`there is no ${host}`))
        : Promise.resolve([address]);
    },
    // Nothing listens on port 1.
    dial: (address, port) =>
      dialDirect("127.0.0.1", ports[port === 443 ? address : `${address}:${port}`] ?? 1),
  },
});
process.on("SIGTERM", () => scheduler.stop("the test is over"));
process.stdout.write("ready\n");
process.exitCode = await scheduler.done;
