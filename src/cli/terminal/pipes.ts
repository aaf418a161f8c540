/**
 * Meets a reader that went away (`al logs | head`): the rest of the data has nobody to read it, so the command ends
 * at once. What must go on without a reader gives its own `onClosed`.
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
