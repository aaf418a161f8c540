import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import type { Script } from "../../foundation/contracts/job.ts";
import type { ScriptedAnswer } from "../../foundation/contracts/model-gateway.ts";
import { limitOpenRequests } from "../../foundation/contracts/request-limit.ts";
import { isSameSecret } from "../../foundation/contracts/same-secret.ts";
import { messageOf } from "../../foundation/errors.ts";
import { answerScript, errorAnswer } from "./scripted-answer.ts";

/** A scripted model that answers as a run's socket does, until it is closed. */
export interface ScriptedModel {
  /** An abstract Unix socket: no file is left of it, and no other machine reaches it. */
  readonly socket: string;
  /** The bearer token it asks for; random, so that no other process on the machine plays the script. */
  readonly token: string;
  close(): Promise<void>;
}

const maxRequestBytes = 32 * 1024 * 1024;

/** Answers chat completions below any path as the script has it, for processes on this machine that have the token. */
export async function startScriptedModel(script: Script): Promise<ScriptedModel> {
  const [token, name] = [secretWord(), secretWord()];
  const server = createServer(limitOpenRequests(), (request, response) => {
    answer(script, token, request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) return void response.destroy();
      send(response, errorAnswer(500, messageOf(error)));
    });
  });
  const socket = `\0al-scripted-${name}`;
  await once(server.listen(socket), "listening");
  return { socket, token, close: () => closed(server) };
}

function secretWord(): string {
  return randomBytes(24).toString("base64url");
}

async function answer(
  script: Script,
  token: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = refusalOf(token, request);
  if (refusal !== null) return send(response, refusal);
  const gone = new AbortController();
  // A client that hangs up doesn't keep a timer alive.
  response.once("close", () => gone.abort());
  const body = await json(request).catch(() => null);
  send(response, await answerScript(script, body, gone.signal));
}

function refusalOf(token: string, request: IncomingMessage): ScriptedAnswer | null {
  if (request.method !== "POST" || !request.url?.endsWith("/v1/chat/completions")) {
    return errorAnswer(404, `no such route: ${request.method ?? ""} ${request.url ?? ""}`);
  }
  if (!isSameSecret(request.headers.authorization ?? "", `Bearer ${token}`)) {
    return errorAnswer(401, "wrong token for the scripted model");
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
