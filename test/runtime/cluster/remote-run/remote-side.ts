import { randomUUID } from "node:crypto";
import { createInbox } from "../../../../src/runtime/cluster/remote-process.ts";
import type { RemoteLine } from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import { doorSide, expectRun } from "../door/support.ts";

/** A run that the real door expects, and what the scheduler behind it has of it. */
export async function remoteSide(leaseSeconds = 30) {
  const side = await doorSide();
  const { name, ticket, runSocket } = await expectRun(side, `dev-${randomUUID()}`);
  const { remote, port } = side.now;
  const claim = remote.claim.bind(remote);
  remote.claim = async (id, given) => ({ ...(await claim(id, given)), leaseSeconds });
  const inbox = createInbox();
  remote.inbox = (_id, signal) => inbox.next(signal);
  const fence = () => runSocket[Symbol.dispose]();
  const received = <T extends RemoteLine>(is: (line: RemoteLine) => line is T) =>
    remote.received.filter(is);
  const ends = () => received((line) => "end" in line).map(({ end }) => end);
  const answer = remote.onLines;
  remote.onLines = () => {
    if (ends().length > 0) fence();
    return answer();
  };
  return {
    ticket: { door: `127.0.0.1:${port}`, certificate: side.certificate, name, ticket },
    /** The scheduler's answers. */
    remote,
    abilities: side.now.abilities,
    /** The lines that it has, in order. */
    log: () => received((line) => "line" in line).map(({ line }) => line),
    ends,
    /** Asks the run to end. */
    stop: inbox.stop,
    /** The scheduler knows the run no more. */
    fence,
    [Symbol.asyncDispose]: () => side.remove(),
  };
}
