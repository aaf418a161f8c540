/** Cuts a byte stream into lines; what a run writes is read this way on both ends. */
export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Hands on what is left without a newline. */
  end(): void;
}

const newline = 0x0a;

/**
 * Hands on each line without its newline (LF or CRLF), decoded as UTF-8. Of a line longer than `maxBytes` only the
 * beginning is kept, with `cut` true, so that memory stays bounded whatever comes.
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
    // Copied, or one short line would keep its whole chunk alive.
    if (fitting.length > 0) parts.push(Buffer.from(fitting));
  };
  const emit = () => {
    const line = Buffer.concat(parts).toString("utf8");
    const cut = seen > kept;
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
