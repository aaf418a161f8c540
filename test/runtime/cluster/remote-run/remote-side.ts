import { randomUUID } from "node:crypto";
import { createInbox } from "../../../../src/runtime/cluster/remote-process.ts";
import type { RemoteLine } from "../../../../src/runtime/wire/remote-protocol.ts";
import { doorSide, expectRun } from "../door/support.ts";

/** A run that the real door expects, and what the scheduler behind it has of it. */
export async function remoteSide() {
  const door = await doorSide();
  const { name, ticket, runSocket } = await expectRun(door, `dev-${randomUUID()}`);
  const { remote, port, abilities } = door.now;
  const claim = remote.claim.bind(remote);
  const inbox = createInbox();
  const received = <T extends RemoteLine>(is: (line: RemoteLine) => line is T) =>
    remote.received.filter(is);
  const side = {
    ticket: { door: `127.0.0.1:${port}`, certificate: door.certificate, name, ticket },
    leaseSeconds: 30,
    /** The scheduler's answers. */
    remote,
    abilities,
    /** The lines that it has, in order. */
    log: () => received((line) => "line" in line).map(({ line }) => line),
    ends: () => received((line) => "end" in line).map(({ end }) => end),
    /** Asks the run to end. */
    stop: inbox.stop,
    /** The scheduler knows the run no more. */
    fence: () => runSocket[Symbol.dispose](),
    remove: door.remove,
  };
  const answer = remote.onLines;
  Object.assign(remote, {
    claim: async (...given: Parameters<typeof claim>) => ({
      ...(await claim(...given)),
      leaseSeconds: side.leaseSeconds,
    }),
    inbox: (_id: string, signal: AbortSignal) => inbox.next(signal),
    onLines: () => {
      if (side.ends().length > 0) side.fence();
      return answer();
    },
  });
  return side;
}
