import { Writable } from "node:stream";

/**
 * Takes standard output for the run's messages alone: what libraries print there goes to standard error from now
 * on. Returns the stream that still writes to it; the stream errors when its reader is gone.
 */
export function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => void write(chunk, done),
  });
  process.stdout.on("error", (error: Error) => output.destroy(error));
  // With the scheduler gone, the error has no reader.
  process.stderr.on("error", () => undefined);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return output;
}
