import type { ServerResponse } from "node:http";
import { fastify } from "fastify";

/**
 * The least that tells many clients of a change: `POST /change/<text>` goes as one event of `size` bytes to everybody
 * who reads `/stream`. Argument: size. Prints its address.
 */
const [size = ""] = process.argv.slice(2);
const clients = new Set<ServerResponse>();
const app = fastify();
app.get("/stream", (_request, reply) => {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { "content-type": "text/event-stream" });
  raw.write(":\n\n");
  clients.add(raw);
  raw.once("close", () => clients.delete(raw));
});
app.post<{ Params: { text: string } }>("/change/:text", (request) => {
  const event = `data: ${request.params.text.padEnd(Number(size))}\n\n`;
  for (const client of clients) client.write(event);
  return { ok: true };
});
process.stdout.write(await app.listen({ host: "127.0.0.1", port: 0 }));
