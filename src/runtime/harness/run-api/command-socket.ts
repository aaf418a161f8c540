import { chmodSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { maxRequestBytes } from "../../wire/protocol.ts";
import { commandNames } from "../../wire/requests/table.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { refusedAnswer, type RunRequests, type Answer } from "./run-requests.ts";

interface CommandSocketOptions {
  readonly workDir: string;
  readonly requests: RunRequests;
  /** The program and its first arguments; a command's name and its arguments follow. */
  readonly program: readonly string[];
  /** The run's own home, where a `.profile` for login shells is written; null to write none. */
  readonly profileDir: string | null;
}

/**
 * Writes the agent's commands and opens the socket by which they reach the run, as the same OS user; disposal closes it
 * and removes the commands. Requires no token, so that the run's token stays in this process. Rejects if the path is too long for a socket.
 */
export async function openCommandSocket({
  workDir,
  requests,
  program,
  profileDir,
}: CommandSocketOptions) {
  const dir = join(workDir, ".al");
  const binDir = join(dir, "bin");
  await mkdir(binDir, { recursive: true, mode: 0o700 });
  const script = (name: string) =>
    `#!/bin/sh\nexec ${[...program, name].map(quoted).join(" ")} "$@"\n`;
  await Promise.all(
    commandNames.map((name) => writeFile(join(binDir, name), script(name), { mode: 0o700 })),
  );
  const profile = profileDir === null ? null : join(profileDir, ".profile");
  // Some CLIs use login shells, which reset the PATH.
  if (profile !== null) await writeFile(profile, `PATH=${quoted(binDir)}:"$PATH"\n`);
  const path = join(dir, "run.sock");
  const server = createServer({ requestTimeout: 30_000 }, (request, response) => {
    void answer(request, response, requests);
  });
  server.listen(path);
  await once(server, "listening");
  chmodSync(path, 0o600);
  // A failed accept fails the command, not the run.
  server.on("error", () => undefined);
  return {
    /** Absolute, like the folder of the commands. */
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

export type CommandSocket = Awaited<ReturnType<typeof openCommandSocket>>;

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
    // The rest of the request is read too: otherwise the client would never read the error.
    if (size <= maxRequestBytes) chunks.push(chunk);
  }
  if (size > maxRequestBytes) throw new Error(`more than ${maxRequestBytes} bytes`);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
}
