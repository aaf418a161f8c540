import { finished } from "node:stream/promises";
import { Writable } from "node:stream";
import type { RunMessage } from "../wire/run-messages.ts";

/** The scheduler reads lines of up to 32 KiB; a message is cut to fit well below. */
const maxLineBytes = 30 * 1024;
/** Limits for each string of a message that is too long, in characters, tried in this order. */
const stringLimits = [8192, 2048, 512, 64];

/**
 * Writes run messages as NDJSON, each at most 30 KiB. Calls `onBroken` when the reader is gone; later messages are
 * lost.
 */
export function messageWriter(output: Writable, onBroken: () => void) {
  let broken = false;
  output.on("error", () => {
    broken = true;
    onBroken();
  });
  return {
    emit: (message: RunMessage) => {
      if (!broken) output.write(`${fitted(message)}\n`);
    },
    /** Resolves once all output was passed to the operating system or the reader is gone. */
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
  // Reached only by a message with a huge number of small values.
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
 * Where to break a text that is longer than `limit`: at a nearby space if possible, because the redactor doesn't
 * recognize half of a secret.
 */
export function breakBefore(text: string, limit: number): number {
  const [word = ""] = /(?<!\S)\S*$/.exec(text.slice(Math.max(0, limit - longestWord), limit)) ?? [];
  const end = limit - word.length;
  return word.length < longestWord && end > 0 ? end : limit;
}

/**
 * Reserves standard output for the run's messages and redirects the output of libraries to standard error. Returns the
 * stream that still writes to standard output; it emits an error when its reader is gone.
 */
export function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => void write(chunk, done),
  });
  process.stdout.on("error", (error: Error) => output.destroy(error));
  // Ignored: without a scheduler, standard error has no reader.
  process.stderr.on("error", () => undefined);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return output;
}
