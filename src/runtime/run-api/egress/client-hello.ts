import { ByteReader, MalformedBytes } from "./byte-reader.ts";

/** What the first bytes of a connection are. */
export type FirstBytes =
  | { readonly type: "incomplete" }
  | { readonly type: "hello"; readonly serverName: string | null }
  | { readonly type: "malformed"; readonly problem: string };

/** Longer hellos are refused: those with post-quantum keys have less than 2 KiB. */
export const maxHelloBytes = 16_384;

const handshakeRecord = 22;
const recordHeaderBytes = 5;
const clientHello = 1;
const messageHeaderBytes = 4;
const serverNameExtension = 0;
const hostName = 0;

/** Whether a connection that begins with this byte is one of TLS. */
export function beginsHandshake(byte: number | undefined): boolean {
  return byte === handshakeRecord;
}

/**
 * Reads the server name of a TLS ClientHello (RFC 8446 4.1.2, RFC 6066 3), which may span records. What servers might
 * read in different ways is malformed.
 */
export function readFirstBytes(bytes: Buffer): FirstBytes {
  try {
    const message = handshakeMessage(bytes.subarray(0, maxHelloBytes));
    if (message !== null) return { type: "hello", serverName: serverNameOf(message) };
    if (bytes.length < maxHelloBytes) return { type: "incomplete" };
    throw new MalformedBytes(`its hello is longer than ${maxHelloBytes} bytes`);
  } catch (error) {
    if (error instanceof MalformedBytes) return { type: "malformed", problem: error.message };
    throw error;
  }
}

/** The body of the first handshake message, out of its records; null when it is not all there. */
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
    if (announced > wanted) throw new MalformedBytes("its hello is followed by other data");
    if (found === wanted) return Buffer.concat(fragments).subarray(messageHeaderBytes);
  }
  return null;
}

/** The length of a record's content; null when its header is not all there. */
function recordSize(header: Buffer): number | null {
  const [type, major = 3, minor = 0] = header;
  if (!beginsHandshake(type)) throw new MalformedBytes("it does not begin with a TLS handshake");
  if (major !== 3 || minor > 4) throw new MalformedBytes("its version of TLS does not exist");
  if (header.length < recordHeaderBytes) return null;
  const size = header.readUInt16BE(3);
  if (size === 0 || size > maxHelloBytes) throw new MalformedBytes("a record has a wrong length");
  return size;
}

/** The length of the message with its header; null when that is not all there. */
function messageBytes(fragments: readonly Buffer[]): number | null {
  const start = Buffer.concat(fragments);
  if (start[0] !== clientHello) throw new MalformedBytes("its first message is no ClientHello");
  return start.length < messageHeaderBytes ? null : messageHeaderBytes + start.readUIntBE(1, 3);
}

/** Null without one. */
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
    if (seen.has(type)) throw new MalformedBytes("an extension is there twice");
    seen.add(type);
    if (type === serverNameExtension) name = onlyName(content);
  }
  return name;
}

function onlyName(content: ByteReader): string {
  const names = content.vector(2);
  content.assertEnd();
  if (names.number(1) !== hostName) throw new MalformedBytes("its server name is no host's");
  const name = names.vector(2).rest().toString("latin1");
  if (!names.isAtEnd()) throw new MalformedBytes("it has several server names");
  if (!/^[\x21-\x7e]+$/.test(name)) throw new MalformedBytes("its server name is no name");
  return name;
}
