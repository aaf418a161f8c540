import { createServer } from "node:http";
import type { Socket } from "node:net";

export type Json = Readonly<Record<string, unknown>>;
export interface Call {
  readonly method: string;
  readonly body: Json;
}
/** A response that replaces the usual one. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json: Json;
}

/** A server of JSON calls; `answer` is given the path and the parsed body. */
export async function jsonServer(
  answer: (call: Call & { readonly token: string }) => Promise<Refusal | Json> | Refusal | Json,
) {
  const calls: Call[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      void (async () => {
        const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Json;
        const method = (request.url ?? "").split("/").at(-1) ?? "";
        calls.push({ method, body });
        const token = `${request.url?.split("/")[1]} ${request.headers.authorization ?? ""}`;
        const given = await answer({ method, body, token });
        const isRefusal = typeof given.status === "number";
        const { status, headers, json } = isRefusal
          ? (given as unknown as Refusal)
          : { status: 200, headers: {}, json: given };
        response.writeHead(status, headers).end(JSON.stringify(json));
      })();
    });
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { port: number };
  return { server, port, calls, base: `http://127.0.0.1:${port}` };
}
