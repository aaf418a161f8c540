import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { banner } from "./hosts.ts";
import { connectTo, egressPerTest } from "./support.ts";
import { pause } from "../../../helpers/pause.ts";

const { side } = egressPerTest();

const hash = (...parts: readonly Uint8Array[]) => {
  const all = createHash("sha256");
  for (const part of parts) all.update(part);
  return all.digest("hex");
};

/** The hash of all that comes, taken slowly. */
async function slowHash(socket: Socket): Promise<string> {
  const all = createHash("sha256");
  let count = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    all.update(chunk);
    count += 1;
    if (count % 40 === 0) await pause(3, "whoever sends is held back");
  }
  return all.digest("hex");
}

test("several tunnels at once carry all bytes in both directions, no faster than they are read", async () => {
  const sizes = [9_000_000, 5_000_001, 70_000, 3];
  const tunnels = await Promise.all(
    sizes.map(async (size, index) => {
      const run = await side().open(`dev-${index}`);
      const { socket } = await connectTo(run, "api.allowed.test:22");
      return { size, socket };
    }),
  );
  await expect.poll(() => side().hosts.ssh.length).toBe(sizes.length);
  const ended = tunnels.map(async ({ size, socket }) => {
    const sent = randomBytes(size);
    // The host answers with other bytes, as many as it gets.
    const back = slowHash(socket);
    socket.end(sent);
    return { sent: hash(sent), back: await back };
  });
  const answers = side().hosts.ssh.map(async (host) => {
    const got = await slowHash(host);
    const answer = randomBytes(6_000_000);
    host.end(answer);
    if (!host.closed) await once(host, "close");
    return { got, answered: hash(Buffer.from(banner), answer) };
  });
  const [ends, hosts] = await Promise.all([Promise.all(ended), Promise.all(answers)]);
  expect(hosts.map(({ got }) => got).sort()).toEqual(ends.map(({ sent }) => sent).sort());
  expect(ends.map(({ back }) => back).sort()).toEqual(hosts.map(({ answered }) => answered).sort());
}, 60_000);
