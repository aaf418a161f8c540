import { finished } from "node:stream/promises";
import { Writable } from "node:stream";
import type { RunMessage } from "../../foundation/contracts/run-messages.ts";

/** The scheduler reads lines of up to 32 KiB; a message is cut to fit well below. */
const maxLineBytes = 30 * 1024;
/** What one string of a message may hold when the message is too long, tried in this order. */
const stringLimits = [8192, 2048, 512, 64];

interface MessageWriter {
  readonly emit: (message: RunMessage) => void;
  /** Resolves once everything was handed to the operating system or the reader is gone. */
  flush(): Promise<void>;
}

/**
 * Writes run messages as NDJSON, each at most 30 KiB. `onBroken` is called when the reader is gone; what is
 * written after that is lost, which is all that can be done.
 */
export function messageWriter(output: Writable, onBroken: () => void): MessageWriter {
  let broken = false;
  output.on("error", () => {
    broken = true;
    onBroken();
  });
  return {
    emit: (message) => {
      if (!broken) output.write(`${fitted(message)}\n`);
    },
    flush: async () => {
      if (broken) return;
      const written = new Promise<void>((resolve) => output.write("", () => resolve()));
      const gone = finished(output, { readable: false }).catch(() => undefined);
      await Promise.race([written, gone]);
    },
  };
}

function fitted(message: RunMessage): string {
  const whole = JSON.stringify(message);
  if (Buffer.byteLength(whole) <= maxLineBytes) return whole;
  for (const limit of stringLimits) {
    const line = JSON.stringify(message, (_key, value: unknown) => shortened(value, limit));
    if (Buffer.byteLength(line) <= maxLineBytes) return line;
  }
  // Only a huge number of small values comes here.
  const { fields, ...rest } = { fields: undefined, ...message };
  return JSON.stringify({ ...rest, ...(fields && { fields: { cut: true } }) }, (_key, value) =>
    shortened(value as unknown, stringLimits[0] ?? 0),
  );
}

function shortened(value: unknown, limit: number): unknown {
  return typeof value === "string" ? cut(value, limit) : value;
}

/** A text of at most `limit` characters and a note of how much was cut. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = breakBefore(text, limit);
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}

/** The end of a text, at most `limit` characters, and a note of how much was cut before it. */
export function cutStart(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const from = text.length - limit;
  const [word = ""] = /^\S*/.exec(text.slice(from, from + longestWord)) ?? [];
  const start = word.length < longestWord ? from + word.length : from;
  return `(${start} characters before) …${text.slice(start)}`;
}

/** How far a cut looks for a space, in characters. */
const longestWord = 512;

/**
 * Where to break a text that is longer than `limit`: at a space where there is one near, because half of a secret is
 * not recognized as one.
 */
export function breakBefore(text: string, limit: number): number {
  const [word = ""] = /\S*$/.exec(text.slice(Math.max(0, limit - longestWord), limit)) ?? [];
  const end = limit - word.length;
  return word.length < longestWord && end > 0 ? end : limit;
}

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
