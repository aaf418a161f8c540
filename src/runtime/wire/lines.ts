import type { Readable } from "node:stream";

/** Splits a byte stream into lines; both ends read a run's output this way. */
export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Emits the rest, which has no newline. */
  end(): void;
}

/** Bytes of output that a run may log. */
export const maxOutputBytes = 50 * 1024 * 1024;

/** Replaces all further output of a run in the log. */
export const cappedMessage = `output capped: the run wrote more than ${maxOutputBytes} bytes`;

const newline = 0x0a;

/**
 * Emits each line without its newline (LF or CRLF), decoded as UTF-8. Of a line longer than `maxBytes` only the
 * beginning is kept, with `cut` true, so that memory stays bounded. A character that the cut divides is left out: with
 * its rest in place of it, the redactor would not know the beginning of a secret.
 */
export function lineSplitter(
  maxBytes: number,
  onLine: (line: string, cut: boolean) => void,
): LineSplitter {
  let parts: Buffer[] = [];
  let kept = 0;
  let seen = 0;
  const add = (part: Buffer) => {
    seen += part.length;
    const fitting = part.subarray(0, maxBytes - kept);
    kept += fitting.length;
    // The line is copied, or one short line would keep its whole chunk alive.
    if (fitting.length > 0) parts.push(Buffer.from(fitting));
  };
  const emit = () => {
    const cut = seen > kept;
    const bytes = Buffer.concat(parts);
    const line = cut ? wholeCharacters(bytes) : bytes.toString("utf8");
    parts = [];
    kept = seen = 0;
    onLine(line.endsWith("\r") ? line.slice(0, -1) : line, cut);
  };
  return {
    push: (chunk) => {
      let start = 0;
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        add(chunk.subarray(start, end));
        emit();
        start = end + 1;
      }
      if (start < chunk.length) add(chunk.subarray(start));
    },
    end: () => {
      if (seen > 0) emit();
    },
  };
}

/** A streaming decoder keeps the beginning of a divided character for bytes that never come. */
function wholeCharacters(bytes: Buffer): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
}

const lineFeed = 0x0a;

/**
 * The first line of `input` without its newline, as UTF-8; the input is then paused and keeps the following bytes.
 * Null if the input ends before. Rejects if the line is longer than `maxBytes`.
 */
export function firstLine(input: Readable, maxBytes: number): Promise<string | null> {
  // The stream may have ended while it was paused: a socket does, and emits that once.
  if (input.readableEnded || input.destroyed) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: () => void) => {
      input.pause().off("data", take).off("end", ended).off("error", ended);
      outcome();
    };
    const take = (chunk: Buffer) => {
      const end = chunk.indexOf(lineFeed);
      chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
      size += chunk.length;
      if (end !== -1) {
        settle(() => resolve(Buffer.concat(chunks).toString("utf8")));
        if (end + 1 < chunk.length) input.unshift(chunk.subarray(end + 1));
      } else if (size > maxBytes) {
        settle(() => reject(new Error(`more than ${maxBytes} bytes on standard input`)));
      }
    };
    const ended = () => settle(() => resolve(null));
    // A reader before this one may have paused it.
    input.on("data", take).once("end", ended).once("error", ended).resume();
  });
}
