import { randomBytes } from "node:crypto";

/** What of a hello a test changes; by default it is a short one of TLS 1.3. */
export interface HelloOptions {
  /** Null for no extension at all. */
  readonly names?: readonly string[] | null;
  readonly nameType?: number;
  /** Extensions beside the server name, type and content in turn. */
  readonly extensions?: readonly (readonly [number, Buffer])[];
  /** Bytes after the extensions, in the same message. */
  readonly trailing?: Buffer;
  /** No list of extensions. */
  readonly isOld?: boolean;
}

function vector(lengthBytes: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(content.length, 0, lengthBytes);
  return Buffer.concat([length, content]);
}

export function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 255]), vector(2, content)]);
}

/** The content of a server name extension. */
export function serverNames(names: readonly string[], nameType = 0): Buffer {
  const list = names.flatMap((name) => [
    Buffer.from([nameType]),
    vector(2, Buffer.from(name, "latin1")),
  ]);
  return vector(2, ...list);
}

/** A ClientHello as a handshake message. */
export function helloMessage(options: HelloOptions = {}): Buffer {
  const { names = ["api.allowed.test"], nameType = 0, extensions = [], isOld = false } = options;
  const all = [
    ...(names === null ? [] : [extension(0, serverNames(names, nameType))]),
    ...extensions.map(([type, content]) => extension(type, content)),
  ];
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    randomBytes(32),
    vector(1, randomBytes(32)),
    vector(2, Buffer.from([0x13, 0x01])),
    vector(1, Buffer.from([0])),
    ...(isOld ? [] : [vector(2, ...all)]),
    options.trailing ?? Buffer.alloc(0),
  ]);
  return Buffer.concat([Buffer.from([1]), vector(3, body)]);
}

/** The bytes in records of at most `size`, of a type. */
export function records(content: Buffer, size = 16_384, type = 22): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < content.length; at += size) {
    parts.push(Buffer.from([type, 3, 1]), vector(2, content.subarray(at, at + size)));
  }
  return Buffer.concat(parts);
}

export function hello(options: HelloOptions = {}): Buffer {
  return records(helloMessage(options));
}
