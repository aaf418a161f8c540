/** One Server-Sent Event. */
export interface StreamEvent {
  readonly event: string;
  /** The last id seen on the stream, empty without one. */
  readonly id: string;
  readonly data: string;
}

/** The longest event that is accepted, in characters: what is larger is not one of ours. */
const longestEvent = 4 * 1024 * 1024;

/**
 * Reads Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream)
 * from UTF-8 bytes, however they are cut. Comments and `retry` are passed over; an unfinished event at the end is
 * dropped, as the standard says.
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  let fields = { event: "", data: [] as string[] };
  let id = "";
  for await (const line of readLines(chunks)) {
    if (line === "") {
      const { event, data } = fields;
      fields = { event: "", data: [] };
      if (data.length > 0) yield { event: event || "message", id, data: data.join("\n") };
      continue;
    }
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "data") fields.data.push(value);
    if (name === "event") fields.event = value;
    if (name === "id" && !value.includes("\0")) id = value;
  }
}

/** Lines end with LF or CRLF: nothing we read from ends them with a bare CR. */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.endsWith("\r") ? line.slice(0, -1) : line;
    if (rest.length > longestEvent) throw new Error("the event stream has a line without end");
  }
}
