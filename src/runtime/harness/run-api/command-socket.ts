import { chmodSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { maxRequestBytes } from "../../../foundation/contracts/run-api.ts";
import { commandNames } from "../../../foundation/contracts/run-requests/table.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { refusedAnswer } from "./run-requests.ts";
import type { RunRequests, Answer } from "./run-requests.ts";

/** Where the agent's commands find the run; disposal closes the socket and removes the commands. */
export interface CommandSocket extends AsyncDisposable {
  /** Absolute path. */
  readonly path: string;
  /** Absolute folder of the commands. */
  readonly binDir: string;
}

export interface CommandSocketOptions {
  readonly workDir: string;
  readonly requests: RunRequests;
  /** The program and its first arguments; a command's name and its arguments follow. */
  readonly program: readonly string[];
  /** The run's own home, where login shells look for what to do first; null for nothing to be written there. */
  readonly profileDir: string | null;
}

/**
 * Opens the run's own socket for the commands of its agent, who are the same user, and writes these commands. No
 * token is needed here, and none leaves this process. Rejects when the path is too long for a socket.
 */
export async function openCommandSocket(options: CommandSocketOptions): Promise<CommandSocket> {
  const { workDir, requests, program, profileDir } = options;
  const dir = join(workDir, ".al");
  const binDir = join(dir, "bin");
  await mkdir(binDir, { recursive: true, mode: 0o700 });
  const script = (name: string) =>
    `#!/bin/sh\nexec ${[...program, name].map(quoted).join(" ")} "$@"\n`;
  await Promise.all(
    commandNames.map((name) => writeFile(join(binDir, name), script(name), { mode: 0o700 })),
  );
  const profile = profileDir === null ? null : join(profileDir, ".profile");
  // A login shell, which some CLIs use, forgets the PATH that it was started with.
  if (profile !== null) await writeFile(profile, `PATH=${quoted(binDir)}:"$PATH"\n`);
  const path = join(dir, "run.sock");
  const server = createServer({ requestTimeout: 30_000 }, (request, response) => {
    void answer(request, response, requests);
  });
  server.listen(path);
  await once(server, "listening");
  chmodSync(path, 0o600);
  // A connection that can't be taken is that command's failure, not the run's.
  server.on("error", () => undefined);
  return {
    path,
    binDir,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await rm(dir, { recursive: true, force: true });
      if (profile !== null) await rm(profile, { force: true });
    },
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  requests: RunRequests,
): Promise<void> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  const answered = await bodyOf(request)
    .then((body) => requests.perform((request.url ?? "").slice(1), body, left.signal))
    .catch(refusedAnswer)
    .catch((error: unknown): Answer => {
      return { ok: false, error: "internal", detail: messageOf(error) };
    });
  const status = answered.ok === true ? 200 : 409;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(answered));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Read to its end all the same, or the other side never reads why.
    if (size <= maxRequestBytes) chunks.push(chunk);
  }
  if (size > maxRequestBytes) throw new Error(`more than ${maxRequestBytes} bytes`);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
}
