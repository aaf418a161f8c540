import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { inputOf } from "../../../foundation/contracts/price.ts";
import type { CallUsage } from "../../../foundation/contracts/model-gateway.ts";
import type { UsageReader, UsageReading } from "./wire-api.ts";

/** Sees an answer as it passes, and reads its usage. */
export interface UsageTap {
  readonly chunk: (bytes: Buffer) => void;
  /** To be called once, when the last byte has passed or the answer was cut. */
  readonly end: () => UsageReading;
}

/** The longest event or document that is read, in characters; the usage of a longer one is estimated. */
const maxLength = 64 * 1024 * 1024;

/** How an answer is read depends on what the provider says it is; null for a page of HTML, which is of no model. */
export function createUsageTap(contentType: string, reader: UsageReader): UsageTap | null {
  if (/\bhtml\b/i.test(contentType)) return null;
  return /\bjson\b/i.test(contentType) ? documentTap(reader) : streamTap(reader);
}

function streamTap(reader: UsageReader): UsageTap {
  const decoder = new StringDecoder("utf8");
  let [bytesSeen, eventsRead] = [0, 0];
  let isReadable = true;
  const parser = createParser({
    maxBufferSize: maxLength,
    onEvent: ({ data }) => {
      if (data !== "[DONE]" && takeJson(data, reader)) eventsRead += 1;
    },
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") isReadable = false;
    },
  });
  return {
    chunk: (bytes) => {
      bytesSeen += bytes.length;
      if (isReadable) parser.feed(decoder.write(bytes));
    },
    end: () => {
      // A last event without the blank line behind it is whole where its JSON is.
      if (isReadable) parser.feed("\n\n");
      const reading = reader.read();
      // Without any event it is of another form than its API's, and all of it may be the model's.
      return eventsRead > 0 ? reading : { ...reading, outputBytes: bytesSeen };
    },
  };
}

function documentTap(reader: UsageReader): UsageTap {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    chunk: (bytes) => {
      length += bytes.length;
      if (length <= maxLength) chunks.push(bytes);
      else chunks.length = 0;
    },
    end: () => {
      const isTaken = takeJson(Buffer.concat(chunks).toString("utf8"), reader);
      const reading = reader.read();
      const { usage, hasFailed } = reading;
      const outputBytes = hasFailed || hasTokens(usage) ? reading.outputBytes : length;
      // Not every server says in a document why the answer ended.
      return { ...reading, isFinal: isTaken && usage !== null, outputBytes };
    },
  };
}

/** False if usage is missing or all zeros (some servers report none). */
export function hasTokens(usage: CallUsage | null): usage is CallUsage {
  return usage !== null && inputOf(usage) > 0;
}

/** What isn't JSON is the client's to report. */
function takeJson(text: string, reader: UsageReader): boolean {
  try {
    reader.take(JSON.parse(text));
    return true;
  } catch {
    return false;
  }
}
