import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { openBridge } from "../../../../src/runtime/harness/bridge/bridge.ts";
import { bridgedScheduler } from "./bridged-scheduler.ts";
import { pause } from "../../../helpers/pause.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(bridgedScheduler, (side) => side.remove());

const ask = (to = side().bridge) =>
  fetch(`${to.baseUrl({ name: "one" }, "https://api.example.com/v1")}/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${to.key}` },
    body: "{}",
  });

/** A scheduler that answers every request with the number of its body's bytes. */
const serve = () =>
  side().serve(
    (socket) => socket.destroy(),
    (request, response) => void text(request).then((body) => response.end(`${body.length}`)),
  );

/** What is at the run socket speaks TCP alone. */
async function serveRaw(onRequest: (connection: Socket) => void): Promise<() => Promise<void>> {
  const open = new Set<Socket>();
  const server = createServer((connection) => {
    open.add(connection);
    connection.on("error", () => undefined);
    connection.once("data", () => onRequest(connection));
  });
  await once(server.listen(side().socket), "listening");
  return async () => {
    for (const connection of open) connection.destroy();
    server.close();
    await once(server, "close");
  };
}

/** Leaves a socket behind that no process listens at, as kill -9 does. */
async function leaveSocket(): Promise<void> {
  const program = `require("node:net").createServer().listen(process.argv[1], () => console.log("up"))`;
  const child = spawn(process.execPath, ["-e", program, side().socket]);
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
}

test("the run's proxy waits for a scheduler that was killed and left its socket: ECONNREFUSED", async () => {
  await leaveSocket();
  const answer = ask();
  await pause(300, "the bridge must not answer before the scheduler is back");
  await rm(side().socket);
  await serve();
  expect(await (await answer).text()).toBe("2");
});

describe("the run's proxy responds 502 at once if", () => {
  async function expectRefusal(answer: Promise<Response>, words: RegExp): Promise<void> {
    const { status, headers } = await answer;
    const body = (await (await answer).json()) as { readonly error: { readonly message: string } };
    expect([status, headers.get("content-type")]).toEqual([502, "application/json"]);
    expect(body.error.message).toMatch(words);
  }

  test.each([
    ["the scheduler ends the connection", "", /^the connection to the scheduler broke: /],
    [
      "the scheduler's answer is not HTTP",
      "SSH-2.0-OpenSSH_9.9\r\n",
      /^the connection to the scheduler broke: Parse Error/,
    ],
  ])("%s", async (_what, answer, words) => {
    const stop = await serveRaw((connection) => connection.end(answer));
    await expectRefusal(ask(), words);
    await stop();
  });

  test("the run socket's path leads through a file", async () => {
    const file = join(tempDir(), "file");
    await writeFile(file, "");
    const runSocket = { socket: join(file, "run.sock"), token: "the-run-token" };
    await using wrong = await openBridge(runSocket);
    await expectRefusal(ask(wrong), /ENOTDIR/);
  });
});

test("the run's proxy does not forward headers of the client's connection", async () => {
  await serve();
  const { port } = new URL(side().bridge.baseUrl({ name: "one" }, "https://api.example.com/v1"));
  const client = connect(Number(port), "127.0.0.1");
  const sent = [
    "POST /model/one/api.example.com/v1/responses HTTP/1.1",
    "host: x",
    `x-api-key: ${side().bridge.key}`,
    "trailer: x-end",
    "te: trailers",
    "keep-alive: timeout=1",
    "expect: 100-continue",
    "content-length: 2",
    "connection: close",
    "",
    "{}",
  ];
  client.write(sent.join("\r\n"));
  expect(await text(client)).toMatch(/HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n2$/);
});
