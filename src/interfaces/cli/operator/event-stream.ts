import { createParser } from "eventsource-parser";

/** One Server-Sent Event. */
export interface StreamEvent {
  readonly event: string;
  /** The last id seen on the stream, empty without one. */
  readonly id: string;
  readonly data: string;
}

/** The longest event that is accepted, in characters: the scheduler sends none that is larger. */
const maxEventLength = 4 * 1024 * 1024;

/** Reads Server-Sent Events from UTF-8 bytes, however they are cut; an unfinished event at the end is dropped. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const events: StreamEvent[] = [];
  let lastId = "";
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event = "message", id = lastId, data }) => {
      lastId = id;
      events.push({ event, id, data });
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* events.splice(0);
  }
}
