const headerBytes = 8;
const stderrType = 2;

/**
 * Takes the engine's multiplexed stream apart: frames of one byte for the stream (1 stdout, 2 stderr), three of
 * nothing, four for the length (big endian), then the payload (Engine API, "Attach to a container"). Payloads are
 * handed on as they come, whole or in parts, so that nothing is gathered.
 */
export function demuxer(to: {
  readonly stdout: (chunk: Buffer) => void;
  readonly stderr: (chunk: Buffer) => void;
}) {
  const header = Buffer.alloc(headerBytes);
  let have = 0;
  let left = 0;
  return {
    push: (chunk: Buffer): void => {
      let at = 0;
      while (at < chunk.length) {
        if (left === 0) {
          const part = chunk.subarray(at, at + headerBytes - have);
          part.copy(header, have);
          at += part.length;
          have += part.length;
          if (have < headerBytes) return;
          have = 0;
          left = header.readUInt32BE(4);
          continue;
        }
        const payload = chunk.subarray(at, at + left);
        at += payload.length;
        left -= payload.length;
        (header[0] === stderrType ? to.stderr : to.stdout)(payload);
      }
    },
  };
}
