/** Ends the command when the reader of its output has closed the pipe (`al logs | head`): the rest has no reader. */
export function watchPipes(): void {
  process.stdout.removeAllListeners("error");
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (!isGone(error)) throw error;
    process.exit();
  });
  process.stderr.removeAllListeners("error");
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (!isGone(error)) throw error;
  });
}

/** For a command that must continue: output without a reader or disk space is dropped. */
export function outlivePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners("error");
    stream.on("error", () => undefined);
    // A stream that failed writes no more, even if the disk has space again.
    const write = stream._write.bind(stream);
    stream._write = (chunk, encoding, done) =>
      write(chunk, encoding, (error) => done(error && isGone(error) ? error : null));
  }
}

/** A closed pipe gives EPIPE, a closed terminal EIO. */
function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "EIO";
}

/** Resolves when both streams have written everything out. */
export async function flushPipes(): Promise<void> {
  const flush = (stream: NodeJS.WriteStream) =>
    new Promise<void>((resolve) => void stream.write("", () => resolve()));
  await Promise.all([flush(process.stdout), flush(process.stderr)]);
}
