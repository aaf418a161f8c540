import { ServerResponse } from "node:http";
import type { IncomingMessage, ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { CompactRequest } from "./compact-request.ts";

/** What a program in a run may send ahead: `apt-get` asks for ten files at once. */
export const pipelinedByPrograms = 16;

/** By connection: requests whose answers were not handed to the kernel before this turn of the event loop. */
const openRequests = new WeakMap<Socket, number>();

/**
 * Options of an HTTP server that destroys a connection with its next request while `max` are open, before any work for
 * it. Node alone hands on all requests of one read, a thousand or more, and looks only then whether the client reads.
 * By default, the second is for a client that sends its next request in the same turn as it got its answer. `refuse` gets
 * each request when its headers are there: it is true after it has ended the connection with an answer.
 */
export function limitOpenRequests(
  max = 2,
  refuse: (request: IncomingMessage) => boolean = () => false,
): Required<Pick<ServerOptions, "IncomingMessage" | "ServerResponse">> {
  class LimitedRequest extends CompactRequest {
    constructor(socket: Socket) {
      super(socket);
      let isUpgrade = false;
      let isRefused: boolean | null = null;
      if ((openRequests.get(socket) ?? 0) >= max) {
        socket.destroy();
        isRefused = true;
      }
      // Node's parser stops at an upgrade alone; otherwise it would go on with the rest of what it read.
      Object.defineProperty(this, "upgrade", {
        configurable: true,
        set: (given: boolean) => (isUpgrade = given),
        get: () => (isRefused ??= refuse(this)) || isUpgrade,
      });
    }
  }
  return { IncomingMessage: LimitedRequest, ServerResponse: CountedResponse };
}

class CountedResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  // Node gives options after the request, which its types do not name.
  constructor(...given: [request: R]) {
    super(...given);
    const { socket } = given[0];
    const add = (change: 1 | -1) =>
      openRequests.set(socket, (openRequests.get(socket) ?? 0) + change);
    add(1);
    // Within one turn, Node may parse and answer everything that one read brought, one request after the other.
    this.once("finish", () => setImmediate(add, -1));
  }
}
