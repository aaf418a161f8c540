/**
 * Ends the command when the reader of its output has closed the pipe (`al logs | head`): the rest of the data has no
 * reader. A command that must continue without one gives its own `onClosed`.
 */
export function watchPipes(onClosed: () => void = () => process.exit()): void {
  process.stdout.removeAllListeners("error");
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (!isGone(error)) throw error;
    onClosed();
  });
  process.stderr.removeAllListeners("error");
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (!isGone(error)) throw error;
  });
}

/** A pipe that was closed gives EPIPE, a terminal that was closed EIO. */
function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "EIO";
}

/** Resolves when both streams have written everything out. */
export async function flushPipes(): Promise<void> {
  const flush = (stream: NodeJS.WriteStream) =>
    new Promise<void>((resolve) => void stream.write("", () => resolve()));
  await Promise.all([flush(process.stdout), flush(process.stderr)]);
}
