import { randomFillSync } from "node:crypto";

/** Random bytes are fetched for so many at a time: each fetch costs as much as all the rest. */
const pool = Buffer.alloc(16 * 256);
let used = pool.length;

function random16(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + 16));
  used += 16;
  return bytes;
}

let lastMs = 0;
let counter = 0;

/**
 * A new UUID v7 (RFC 9562): sorts as text by the time of its making, also within one millisecond of this process
 * and when the clock is set back. `now` is epoch ms.
 */
export function uuidV7(now = Date.now()): string {
  if (now > lastMs) {
    lastMs = now;
    counter = 0;
  } else if (++counter > 0xfff) {
    lastMs += 1;
    counter = 0;
  }
  const bytes = random16();
  bytes.writeUIntBE(lastMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
