import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import type { Script } from "../contracts/job.ts";
import { replyChunks } from "./scripted-reply.ts";

/** A scripted model that answers on the loopback interface until it is closed. */
export interface ScriptedModel {
  /** Base URL of an OpenAI-compatible API, such as `http://127.0.0.1:40123/v1`. */
  readonly baseUrl: string;
  /** The bearer key it asks for; random, so that no other process on the machine plays the script. */
  readonly key: string;
  close(): Promise<void>;
}

const maxRequestBytes = 32 * 1024 * 1024;

const chatRequestSchema = z.object({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string() })),
});

/** A request that gets an error answer, in the shape the OpenAI API gives errors. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Replays a script as an LLM would talk: `POST /v1/chat/completions`, streamed as server-sent events. The turn
 * that answers is the number of assistant messages in the request, so the script needs no state and a repeated
 * request gets the same turn. Source of the wire shape: OpenAI's "Chat Completions, streaming events" reference.
 */
export async function startScriptedModel(script: Script): Promise<ScriptedModel> {
  const key = randomBytes(24).toString("base64url");
  const server = createServer((request, response) => {
    answer(script, key, request, response).catch((error: unknown) => refuse(response, error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port on 127.0.0.1");
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    key,
    close: () => closed(server),
  };
}

async function answer(
  script: Script,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  checkCaller(key, request);
  const { chat, characters } = await readChat(request);
  const turnIndex = chat.messages.filter(({ role }) => role === "assistant").length;
  const turn = script.turns[turnIndex];
  if (turn?.delayMs !== undefined) await waitWhileConnected(turn.delayMs, response);
  if (turn?.status !== undefined) {
    throw new Refusal(turn.status, turn.error ?? `the script answers ${turn.status}`);
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const chunk of replyChunks(chat.model, turn, turnIndex, characters)) {
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

function checkCaller(key: string, request: IncomingMessage): void {
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
    throw new Refusal(404, `no such route: ${request.method ?? ""} ${request.url ?? ""}`);
  }
  if (!sameText(request.headers.authorization ?? "", `Bearer ${key}`)) {
    throw new Refusal(401, "wrong key for the scripted model");
  }
}

async function readChat(request: IncomingMessage) {
  if (Number(request.headers["content-length"] ?? 0) > maxRequestBytes) {
    throw new Refusal(413, `the request is larger than ${maxRequestBytes} bytes`);
  }
  const body = await json(request).catch(() => null);
  const chat = chatRequestSchema.safeParse(body);
  if (!chat.success) throw new Refusal(400, "the request is not a chat completion");
  return { chat: chat.data, characters: JSON.stringify(chat.data.messages).length };
}

/** A client that hangs up doesn't keep the timer alive. */
async function waitWhileConnected(ms: number, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  const hangUp = () => gone.abort();
  response.once("close", hangUp);
  await wait(ms, undefined, { signal: gone.signal });
  response.off("close", hangUp);
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const refusal = error instanceof Refusal ? error : new Refusal(500, String(error));
  const { status, message } = refusal;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message, type: "scripted_error", code: status } }));
}

function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
