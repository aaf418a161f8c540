import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import type { Script } from "../contracts/job.ts";
import type { ScriptedAnswer } from "../contracts/model-gateway.ts";
import { isSameSecret } from "../contracts/same-secret.ts";
import { messageOf } from "../errors.ts";
import { answerScript, errorAnswer } from "./scripted-answer.ts";

/** A scripted model that answers on the loopback interface until it is closed. */
export interface ScriptedModel {
  /** Base URL of an OpenAI-compatible API, such as `http://127.0.0.1:40123/v1`. */
  readonly baseUrl: string;
  /** The bearer key it asks for; random, so that no other process on the machine plays the script. */
  readonly key: string;
  close(): Promise<void>;
}

const maxRequestBytes = 32 * 1024 * 1024;

/** Answers `POST /v1/chat/completions` as the script has it, for processes on this machine that have the key. */
export async function startScriptedModel(script: Script): Promise<ScriptedModel> {
  const key = randomBytes(24).toString("base64url");
  const server = createServer((request, response) => {
    answer(script, key, request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) return void response.destroy();
      send(response, errorAnswer(500, messageOf(error)));
    });
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
  const refusal = refusalOf(key, request);
  if (refusal !== null) return send(response, refusal);
  const gone = new AbortController();
  // A client that hangs up doesn't keep a timer alive.
  response.once("close", () => gone.abort());
  const body = await json(request).catch(() => null);
  send(response, await answerScript(script, body, gone.signal));
}

function refusalOf(key: string, request: IncomingMessage): ScriptedAnswer | null {
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
    return errorAnswer(404, `no such route: ${request.method ?? ""} ${request.url ?? ""}`);
  }
  if (!isSameSecret(request.headers.authorization ?? "", `Bearer ${key}`)) {
    return errorAnswer(401, "wrong key for the scripted model");
  }
  const isTooLarge = Number(request.headers["content-length"] ?? 0) > maxRequestBytes;
  return isTooLarge
    ? errorAnswer(413, `the request is larger than ${maxRequestBytes} bytes`)
    : null;
}

function send(response: ServerResponse, { status, headers, body }: ScriptedAnswer): void {
  response.writeHead(status, headers);
  for (const chunk of body) response.write(chunk);
  response.end();
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
