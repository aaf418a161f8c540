import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { scriptSchema, type Script } from "../../foundation/contracts/job.ts";
import type { ScriptedAnswer } from "../../foundation/contracts/model-gateway.ts";
import { limitOpenRequests, isSameSecret } from "../../foundation/contracts/request-limit.ts";
import { messageOf, Problem } from "../../foundation/errors.ts";
import { answerScript, errorAnswer } from "./scripted-answer.ts";
import { readFile } from "node:fs/promises";
import { parse, TomlError } from "smol-toml";

/** A scripted model that answers as a run's socket does, until it is closed. */
export interface ScriptedModel {
  /** An abstract Unix socket: no file is left of it, and no other machine reaches it. */
  readonly socket: string;
  /** The bearer token it asks for; random, so that no other process on the machine plays the script. */
  readonly token: string;
  close(): Promise<void>;
}

const maxRequestBytes = 32 * 1024 * 1024;

/** Answers chat completions below any path by the script, for processes on this machine that have the token. */
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

/**
 * Reads the script of the `scripted` provider: a TOML file of `[[turns]]`, each with `text` and
 * `[[turns.tools]]` (`name`, `arguments`). The turns after one without tools play when another run continues the session. Throws a Problem that names the file and its fault.
 */
export async function readScriptFile(path: string): Promise<Script> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw unread(path, error);
  });
  const checked = scriptSchema.safeParse(parsed(path, text));
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const place = issue?.path.map(String).join(".") ?? "";
    throw broken(path, `${place === "" ? "" : `${place}: `}${issue?.message ?? "is not a script"}`);
  }
  return checked.data;
}

function parsed(path: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [problem] = error.message.split("\n");
    throw broken(`${path}:${error.line}:${error.column}`, problem ?? "is not TOML", error);
  }
}

function unread(path: string, cause: unknown): Problem {
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
  const problem = isMissing ? "is not there" : `can't be read: ${messageOf(cause)}`;
  const hint = "script in [models.<name>] of config.toml names it, relative to the project";
  return new Problem("script_unreadable", `the script ${path} ${problem}`, { hint, cause });
}

function broken(place: string, problem: string, cause?: unknown): Problem {
  return new Problem("script_invalid", `${place}  ${problem}`, {
    hint: 'A script is a list of [[turns]], each with text = "…" and, where it calls tools, [[turns.tools]] with name and arguments.',
    cause,
  });
}
