import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { listen } from "../helpers/listen.ts";
import { pause } from "../helpers/pause.ts";
import type { Wanted } from "./model-client.ts";

/** A provider that streams chat completions as fast as asked. Prints its port as JSON. */
const event = `data: ${JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "bench",
  choices: [{ index: 0, delta: { content: " and some words" }, finish_reason: null }],
})}\n\n`;

const server = createServer((request, response) => {
  void json(request).then((body) => {
    const { user } = body as { readonly user: string };
    return stream(JSON.parse(user) as Wanted, response);
  });
});
process.stdout.write(`${JSON.stringify({ port: await listen(server) })}\n`);

async function stream({ times, events, pauseMs }: Wanted, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = event.repeat(events);
  for (let n = 0; n < times; n++) {
    if (!response.write(chunk)) await once(response, "drain");
    if (pauseMs > 0) await pause(pauseMs, "a model needs its time");
  }
  response.end("data: [DONE]\n\n");
}
