import { connect, createServer, type Socket } from "node:net";
import { randomBy } from "../../../helpers/random.ts";
import { listen } from "../../../helpers/listen.ts";
import { isLong } from "../../../helpers/long.ts";
import { exitOf, messagesOf } from "../../runners/contract.ts";
import { aRequest, end } from "../../runners/shell-runs.ts";
import { aCluster } from "../support.ts";

const runs = Number(process.env.AL_REMOTE_RUNS ?? (isLong ? 10 : 1));
const firstSeed = Number(process.env.AL_REMOTE_SEED ?? 20);
const lineCount = 200;
const maxCuts = isLong ? 25 : 10;

/** Writes lines one after another, and a value in two pieces with others between them. */
const script = [
  `echo '{"type":"return","json":"[1","more":true}'`,
  `i=0; while [ $i -lt ${lineCount} ]; do echo "line $i"; i=$((i+1)); sleep 0.03`,
  `[ $i = ${lineCount / 2} ] && echo '{"type":"return","json":",2]","more":false}'`,
  "done",
  end(),
].join("\n");

/** A relay to the door that cuts each connection after some bytes of both directions, so many times. */
async function cuttingRelay(doorPort: () => number, random: () => number) {
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(doorPort(), "127.0.0.1");
    let left = cuts < maxCuts ? 500 * 2 ** (random() * 5) : Infinity;
    const destroy = () => [near, far].forEach((socket) => socket.destroy());
    const pass = (from: Socket, to: Socket) => {
      from.on("error", destroy).on("close", destroy);
      from.on("data", (chunk: Buffer) => {
        to.write(chunk);
        left -= chunk.length;
        if (left > 0 || from.destroyed) return;
        cuts += 1;
        destroy();
      });
    };
    pass(near, far);
    pass(far, near);
  });
  onTestFinished(() => void server.close());
  return { address: `127.0.0.1:${await listen(server)}`, cuts: () => cuts };
}

test.each(Array.from({ length: runs }, (_, run) => firstSeed + run))(
  "a run whose connections are cut again and again keeps each line once and its result (seed %i)",
  async (seed) => {
    const cluster = await aCluster();
    const settings = () => cluster.configured({}).cluster();
    const doorPort = () => Number(settings().address.split(":")[1]);
    const relay = await cuttingRelay(doorPort, randomBy(seed));
    const options = { cluster: () => ({ ...settings(), address: relay.address }) };
    const events = await cluster.eventsOf(aRequest(script), options);
    const lines = Array.from({ length: lineCount }, (_, index) => `line ${index}`);
    expect(messagesOf(events)).toEqual(lines);
    expect(exitOf(events)).toMatchObject({ exitCode: 0, value: [1, 2], usage: { tokens: 7 } });
    expect(relay.cuts()).toBeGreaterThan(maxCuts / 2);
  },
);
