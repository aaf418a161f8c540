import { createSocket } from "node:dgram";
import { lookup, Resolver } from "node:dns/promises";
import { connect, type NetConnectOpts } from "node:net";

/** The attempts of a program in a run: connections, a datagram, then names by the system and by a server of its own. */
interface Targets {
  readonly addresses: readonly NetConnectOpts[];
  readonly udpPort: number;
}

const { addresses, udpPort } = JSON.parse(process.argv[2] ?? "") as Targets;
const log = (text: string): void => void process.stdout.write(`${text}\n`);
const logCode = (error: unknown): void => log((error as NodeJS.ErrnoException).code ?? "error");

for (const address of addresses) {
  await new Promise<void>((resolve) => {
    const socket = connect(address);
    const end = (): void => {
      socket.destroy();
      resolve();
    };
    socket.once("connect", () => log("reached")).once("connect", end);
    socket.once("error", logCode).once("error", end);
    socket.setTimeout(1000, () => log("no answer")).once("timeout", end);
  });
}
const udp = createSocket("udp4");
await new Promise((resolve) => udp.send("x", udpPort, "127.0.0.1", resolve));
udp.close();
await lookup("example.test").catch(logCode);
const resolver = new Resolver({ timeout: 500, tries: 1 });
resolver.setServers(["192.0.2.1"]);
await resolver.resolve("example.test").catch(logCode);
