import { ServerResponse, IncomingMessage, type ServerOptions } from "node:http";
import type { Socket, Server } from "node:net";
import type { FastifyServerOptions } from "fastify";
import { createHash, timingSafeEqual } from "node:crypto";

/** Requests that a program in a run may pipeline: `apt-get` sends ten at once. */
export const pipelinedByPrograms = 16;

/** Requests of a connection whose answers were not passed to the kernel before this turn of the event loop. */
const openRequests = Symbol("open requests");
type CountedSocket = Socket & { [openRequests]?: number };

/**
 * Options of an HTTP server that destroys a connection at its next request while `max` are open, before any work for it.
 * Node alone dispatches all requests of one read, a thousand or more, and only then checks whether the client reads. The
 * default of two allows a client that sends its next request in the turn of its answer. `refuse` gets each request with
 * its headers; it returns true after ending the connection with an answer.
 */
export function limitOpenRequests(
  max = 2,
  refuse: (request: IncomingMessage) => boolean = () => false,
): Required<Pick<ServerOptions, "IncomingMessage" | "ServerResponse">> {
  class LimitedRequest extends CompactRequest {
    declare isUpgrade: boolean;
    isRefused: boolean | null = null;

    constructor(socket: CountedSocket) {
      super(socket);
      if ((socket[openRequests] ?? 0) < max) return;
      socket.destroy();
      this.isRefused = true;
    }

    // Node sets it in its own constructor, too. Only an upgrade stops its parser, which otherwise parses the rest of its
    // buffer.
    set upgrade(given: boolean) {
      this.isUpgrade = given;
    }
    get upgrade(): boolean {
      return (this.isRefused ??= refuse(this)) || this.isUpgrade;
    }
  }
  return { IncomingMessage: LimitedRequest, ServerResponse: CountedResponse };
}

class CountedResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  // Node gives options after the request, which its types do not name.
  constructor(...given: [request: R]) {
    super(...given);
    const socket: CountedSocket = given[0].socket;
    socket[openRequests] = (socket[openRequests] ?? 0) + 1;
    // Within one turn, Node may parse and answer everything that one read brought, one request after the other.
    this.once("finish", () => setImmediate(finishRequest, socket));
  }
}

function finishRequest(socket: CountedSocket): void {
  socket[openRequests] = (socket[openRequests] ?? 0) - 1;
}

const smallBytes = 1024;
const blockBytes = 16 * 1024;
const empty = Buffer.alloc(0);

/**
 * A request that merges small chunks of its body until they are read: Node creates a Buffer for each, so that a body in
 * chunks of one byte takes 300 times its bytes.
 */
class CompactRequest extends IncomingMessage {
  #block = empty;
  #filled = 0;
  #isWanted = false;

  override push(chunk: Buffer | null): boolean {
    if (chunk === null || chunk.length > smallBytes) {
      this.#flush();
      return super.push(chunk);
    }
    if (this.#filled + chunk.length > this.#block.length) {
      this.#flush();
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
    }
    this.#filled += chunk.copy(this.#block, this.#filled);
    // Everything from one read is gathered first.
    if (this.#isWanted) process.nextTick(() => this.#flush());
    this.#isWanted = false;
    return this.readableLength + this.#filled < this.readableHighWaterMark;
  }

  override _read(size: number): void {
    if (this.#filled > 0) this.#flush();
    else this.#isWanted = true;
    super._read(size);
  }

  #flush(): void {
    if (this.#filled === 0) return;
    const gathered = this.#block.subarray(0, this.#filled);
    this.#block = this.#block.subarray(this.#filled);
    this.#filled = 0;
    super.push(gathered);
  }
}

/**
 * Keeps Fastify from loading its own compilers of schemas, which would be a fifth of the code that a start loads: routes have zod's
 * schemas, or none.
 */
export const noSchemaCompilers: NonNullable<FastifyServerOptions["schemaController"]> = {
  compilersFactory: { buildValidator: () => fail, buildSerializer: () => fail },
};

function fail(): never {
  throw new Error("a route has a schema, and its app has nothing that reads it");
}

/**
 * Keeps at most `max` connections without a valid token or key: the oldest is closed. Every local user can find a
 * socket's path (`/proc/net/unix`), and must not block its run by holding connections open; nor may a client of a port
 * use up the file descriptors that the scheduler needs.
 */
export function limitUnauthenticated(server: Server, max: number) {
  // A set keeps the order of arrival.
  const connections = new Set<Socket>();
  server.on("connection", (connection: Socket) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    const [oldest] = connections;
    if (connections.size > max) oldest?.destroy();
  });
  return {
    /** The connection carried a request with a valid token or key. */
    markAuthenticated: (connection: Socket) => void connections.delete(connection),
  };
}

/** Compares two secrets in constant time, hiding their lengths too; an empty secret never matches. */
export function isSameSecret(given: string, expected: string): boolean {
  return expected !== "" && timingSafeEqual(sha256(given), sha256(expected));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
