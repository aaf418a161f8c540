import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** What a request asks for: so many events at once, so often, with a pause of so many ms between. */
interface Wanted {
  readonly times: number;
  readonly events: number;
  readonly pauseMs: number;
}

/** A provider that streams chat completions as fast as asked. Prints its port as JSON. */
const event = `data: ${JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "bench",
  choices: [{ index: 0, delta: { content: " and some words" }, finish_reason: null }],
})}\n\n`;

const server = createServer((request, response) => {
  void json(request).then((body) => stream(body as Wanted, response));
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});

async function stream({ times, events, pauseMs }: Wanted, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = event.repeat(events);
  for (let n = 0; n < times; n++) {
    if (!response.write(chunk)) await once(response, "drain");
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  response.end("data: [DONE]\n\n");
}
