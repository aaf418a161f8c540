import { isIP, type Socket } from "node:net";

/** Result of reading the first bytes of a connection. */
export type FirstBytes =
  | { readonly type: "incomplete" }
  | { readonly type: "hello"; readonly serverName: string | null }
  | { readonly type: "malformed"; readonly problem: string };

/** Longer hellos are refused; hellos with post-quantum keys are shorter than 2 KiB. */
export const maxHelloBytes = 16_384;

const handshakeRecord = 22;
const recordHeaderBytes = 5;
const clientHello = 1;
const messageHeaderBytes = 4;
const serverNameExtension = 0;
const hostName = 0;

/** Whether this first byte begins a TLS connection. */
function beginsHandshake(byte: number | undefined): boolean {
  return byte === handshakeRecord;
}

/**
 * Reads the server name of a TLS ClientHello (RFC 8446 4.1.2, RFC 6066 3), which may span records. A hello that servers
 * might interpret differently is malformed.
 */
export function readFirstBytes(bytes: Buffer): FirstBytes {
  try {
    const message = handshakeMessage(bytes.subarray(0, maxHelloBytes));
    if (message !== null) return { type: "hello", serverName: serverNameOf(message) };
    if (bytes.length < maxHelloBytes) return { type: "incomplete" };
    throw new MalformedBytes(`its ClientHello is longer than ${maxHelloBytes} bytes`);
  } catch (error) {
    if (error instanceof MalformedBytes) return { type: "malformed", problem: error.message };
    throw error;
  }
}

/** The body of the first handshake message, joined from its records; null if it is incomplete. */
function handshakeMessage(bytes: Buffer): Buffer | null {
  const fragments: Buffer[] = [];
  let wanted: number | null = null;
  let [found, announced, at] = [0, 0, 0];
  while (at < bytes.length) {
    const size = recordSize(bytes.subarray(at, at + recordHeaderBytes));
    if (size === null) return null;
    at += recordHeaderBytes;
    const fragment = bytes.subarray(at, at + size);
    fragments.push(fragment);
    at += size;
    announced += size;
    found += fragment.length;
    if (wanted === null && found > 0) wanted = messageBytes(fragments);
    if (wanted === null) continue;
    if (announced > wanted) throw new MalformedBytes("its ClientHello is followed by other data");
    if (found === wanted) return Buffer.concat(fragments).subarray(messageHeaderBytes);
  }
  return null;
}

/** The length of a record's content; null if its header is incomplete. */
function recordSize(header: Buffer): number | null {
  const [type, major = 3, minor = 0] = header;
  if (!beginsHandshake(type)) throw new MalformedBytes("it does not begin with a TLS handshake");
  if (major !== 3 || minor > 4) throw new MalformedBytes("its version of TLS does not exist");
  if (header.length < recordHeaderBytes) return null;
  const size = header.readUInt16BE(3);
  if (size === 0 || size > maxHelloBytes) throw new MalformedBytes("a record has a wrong length");
  return size;
}

/** The length of the message with its header; null if the header is incomplete. */
function messageBytes(fragments: readonly Buffer[]): number | null {
  const start = Buffer.concat(fragments);
  if (start[0] !== clientHello) throw new MalformedBytes("its first message is not a ClientHello");
  return start.length < messageHeaderBytes ? null : messageHeaderBytes + start.readUIntBE(1, 3);
}

/** The server name; null if the hello has none. */
function serverNameOf(message: Buffer): string | null {
  const hello = new ByteReader(message);
  if (hello.number(1) !== 3) throw new MalformedBytes("its version of TLS does not exist");
  hello.take(1 + 32); // The minor version and the random bytes.
  hello.vector(1); // The session's ID,
  hello.vector(2); // cipher suites,
  hello.vector(1); // and compression methods.
  if (hello.isAtEnd()) return null;
  const extensions = hello.vector(2);
  hello.assertEnd();
  const seen = new Set<number>();
  let name: string | null = null;
  while (!extensions.isAtEnd()) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (seen.has(type)) throw new MalformedBytes("an extension occurs twice");
    seen.add(type);
    if (type === serverNameExtension) name = onlyName(content);
  }
  return name;
}

function onlyName(content: ByteReader): string {
  const names = content.vector(2);
  content.assertEnd();
  if (names.number(1) !== hostName) throw new MalformedBytes("its server name is not a host name");
  const name = names.vector(2).rest().toString("latin1");
  if (!names.isAtEnd()) throw new MalformedBytes("it has several server names");
  if (!/^[\x21-\x7e]+$/.test(name))
    throw new MalformedBytes("its server name is not printable ASCII");
  return name;
}

/** The error's message continues a sentence about the connection. */
class MalformedBytes extends Error {}

/** Reads TLS's numbers and length-prefixed vectors; throws `MalformedBytes` beyond the end. */
class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(count: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + count);
    if (taken.length < count) throw new MalformedBytes("a length in its ClientHello is wrong");
    this.#at += count;
    return taken;
  }

  /** Big-endian, of 1 to 6 bytes. */
  number(bytes: number): number {
    return this.take(bytes).readUIntBE(0, bytes);
  }

  /** Reads a length of `lengthBytes` bytes and the content that follows. */
  vector(lengthBytes: number): ByteReader {
    return new ByteReader(this.take(this.number(lengthBytes)));
  }

  rest(): Buffer {
    return this.take(this.#bytes.length - this.#at);
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  assertEnd(): void {
    if (!this.isAtEnd()) throw new MalformedBytes("a length in its ClientHello is wrong");
  }
}

/** A connection's first data: `plain` isn't TLS; `nothing` means that the connection ended before its hello did. */
type FirstData =
  | Exclude<FirstBytes, { readonly type: "incomplete" }>
  | { readonly type: "plain" | "nothing" };

/** How long a whole hello may take, in ms. */
const helloMs = 10_000;

/**
 * Waits for the first bytes of a connection (for TLS, the whole hello), pauses the socket and puts them back. On a TLS
 * port they must arrive within `helloMs`.
 */
export function firstData(
  client: Socket,
  { isTls }: { readonly isTls: boolean },
): Promise<FirstData> {
  const { promise, resolve } = Promise.withResolvers<FirstData>();
  let bytes: Buffer = Buffer.alloc(0);
  const give = (data: FirstData): void => {
    clearTimeout(timer);
    client.off("data", take).off("end", end).off("close", end);
    client.pause();
    if (data.type === "hello" || data.type === "plain") client.unshift(bytes);
    resolve(data);
  };
  const take = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    if (!isTls && !beginsHandshake(bytes[0])) return give({ type: "plain" });
    const read = readFirstBytes(bytes);
    if (read.type !== "incomplete") give(read);
  };
  const end = (): void => give({ type: "nothing" });
  const late = (): void =>
    give({ type: "malformed", problem: "its ClientHello did not arrive in time" });
  const timer = isTls ? setTimeout(late, helloMs) : undefined;
  client.on("data", take).once("end", end).once("close", end);
  return promise;
}

/** Why a connection to `host` may not begin with this data; null if it may. */
export function firstDataProblem(
  data: FirstData,
  host: string,
): { readonly reason: "no_tls" | "server_name"; readonly detail: string } | null {
  if (data.type === "malformed") return { reason: "no_tls", detail: data.problem };
  if (data.type !== "hello") return null;
  const { serverName } = data;
  const expected = isIP(host) === 0 ? host : null;
  // Servers ignore the case of the name, but accept no other form of it.
  if ((serverName?.toLowerCase() ?? null) === expected) return null;
  const found =
    serverName === null ? "it has none" : `it is ${JSON.stringify(serverName.slice(0, 253))}`;
  return { reason: "server_name", detail: found };
}
