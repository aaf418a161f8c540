import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An OpenAI-compatible endpoint that answers "done", and tells when it was asked. */
export interface ModelEndpoint {
  readonly baseUrl: string;
  /** Resolves with the moment of the next request, of `performance.now()`. */
  nextRequest(): Promise<number>;
  close(): void;
}

const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({
    id: "1",
    object: "chat.completion.chunk",
    created: 1,
    model: "bench",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

/** Starts the endpoint on a free port. */
export async function startModelEndpoint(): Promise<ModelEndpoint> {
  let seen: (at: number) => void = () => undefined;
  const server = createServer((request, response) => {
    seen(performance.now());
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(chunk({ role: "assistant", content: "done" }, null));
    response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    nextRequest: () => new Promise((resolve) => (seen = resolve)),
    close: () => server.close(),
  };
}
