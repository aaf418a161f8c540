import { once } from "node:events";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { destroyOnDeadRelay } from "../../../../src/runtime/cluster/remote-run/pipe-channel.ts";
import { dialDoor } from "../../../../src/runtime/cluster/remote-run/door-connection.ts";
import { relayServer } from "../../../../src/runtime/cluster/door-relay.ts";
import { listen } from "../../../helpers/listen.ts";
import { pause } from "../../../helpers/pause.ts";
import { doorSide, expectRun, type DoorSide } from "../door/support.ts";

const silentMs = 100;

let side: DoorSide;
let over: AbortController;
const open: { close(): unknown }[] = [];
beforeEach(async () => {
  over = new AbortController();
  side = await doorSide();
});
afterEach(async () => {
  over.abort();
  for (const each of open.splice(0)) each.close();
  await side.remove();
});

/** A relay whose machine can fail: it takes no more connections, and those that it has get neither bytes nor an end. */
async function relay() {
  const server = relayServer(`127.0.0.1:${side.now.port}`, { maxConnections: 9, maxPerAddress: 9 });
  const taken: Socket[] = [];
  server.prependListener("connection", (connection: Socket) => taken.push(connection));
  open.push(server);
  const port = await listen(server);
  const fail = () => {
    server.close();
    for (const connection of taken) connection.unpipe().pause();
  };
  return { door: `127.0.0.1:${port}`, fail };
}

/** A connection by the first relay, and a name of the door that leads to the relay of `now`. */
async function connectedBy(first: { door: string }): Promise<[TLSSocket, { now: string }]> {
  const { name } = await expectRun(side, "dev-1");
  const leads = { now: first.door };
  const address = {
    get door() {
      return leads.now;
    },
    certificate: side.certificate,
    name,
  };
  const connection = await dialDoor(address, over.signal);
  open.push({ close: () => connection.destroy() });
  destroyOnDeadRelay(connection, address, over.signal, silentMs);
  return [connection, leads];
}

test("a connection to the door is cut when another relay leads to it", async () => {
  const [one, other] = [await relay(), await relay()];
  const [connection, leads] = await connectedBy(one);
  const closed = once(connection, "close");
  one.fail();
  leads.now = other.door;
  await closed;
});

test("a connection to the door stays while no other relay responds", async () => {
  const one = await relay();
  const [connection] = await connectedBy(one);
  const isCut = async () => {
    await pause(5 * silentMs, "the connection must not be cut");
    return connection.destroyed;
  };
  expect(await isCut()).toBe(false);
  one.fail();
  expect(await isCut()).toBe(false);
});
