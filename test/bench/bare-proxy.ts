import { connect, createServer, type AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { answerMemory } from "./held-memory.ts";

/**
 * Passes bytes on between connections and does nothing else. Arguments: where it listens and where it connects, each a
 * port of 127.0.0.1 (0 for any) or the path of a Unix socket. Prints where it listens, as JSON.
 */
const [from = "", to = ""] = process.argv.slice(2);
const server = createServer({ noDelay: true }, (client) => {
  const target = connect(addressOf(to));
  pipeline(client, target, () => undefined);
  pipeline(target, client, () => undefined);
});
server.listen(addressOf(from), () => {
  const address = server.address() as AddressInfo | string;
  const at = typeof address === "string" ? address : String(address.port);
  process.stdout.write(`${JSON.stringify({ at })}\n`);
});
answerMemory();

function addressOf(text: string) {
  const isPort = /^\d+$/.test(text);
  return isPort ? { host: "127.0.0.1", port: Number(text), noDelay: true } : { path: text };
}
