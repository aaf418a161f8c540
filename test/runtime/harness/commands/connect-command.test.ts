import { PassThrough } from "node:stream";
import { createServer } from "node:net";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { connectCommand } from "../../../../src/runtime/harness/commands/connect-command.ts";
import { bridgedScheduler } from "../bridge/bridged-scheduler.ts";
import { perTest } from "../../../helpers/per-test.ts";
import { listen } from "../../../helpers/listen.ts";

const side = perTest(bridgedScheduler, (side) => side.remove());

/** One call of the command: what it is given, and what comes of it. */
function call(args: readonly string[], env: Record<string, string>) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let errors = "";
  const err = (line: string): void => void (errors += line);
  const ended = connectCommand(args, { env, stdin, stdout, err }).then(async (exitCode) => {
    stdout.end();
    return { exitCode, errors, output: await text(stdout) };
  });
  return { stdin, ended };
}

const throughBridge = () => ({ HTTPS_PROXY: side().bridge.proxyUrl });

describe("the command al-connect", () => {
  test("connects standard input and output to a tunnel, and closes each separately", async () => {
    await side().serve((socket, { url }) => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      void text(socket).then((given) => socket.end(`${url ?? ""} got ${given}`));
    });
    const { stdin, ended } = call(["db.allowed.test", "5432"], throughBridge());
    stdin.end("hello");
    const output = "db.allowed.test:5432 got hello";
    expect(await ended).toEqual({ exitCode: 0, errors: "", output });
  });

  test("writes an IPv6 address in brackets in its request", async () => {
    await side().serve((socket, { url }) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${url ?? ""}`));
    expect((await call(["fd00::7", "22"], throughBridge()).ended).output).toBe("[fd00::7]:22");
  });

  test("exits with 1 and prints the text of a rejected tunnel", async () => {
    const head = "HTTP/1.1 403 no\r\ncontent-type: text/plain\r\n\r\n";
    await side().serve((socket) => socket.end(`${head}denied.test is not allowed.\n`));
    const errors = "al-connect: denied.test is not allowed.\n";
    const { ended } = call(["denied.test", "22"], throughBridge());
    expect(await ended).toEqual({ exitCode: 1, errors, output: "" });
  });

  test("connects directly in a run with an open network", async () => {
    const server = createServer((socket) => socket.end("direct"));
    const port = await listen(server);
    const dial = () => call(["127.0.0.1", String(port)], {}).ended;
    expect(await dial()).toMatchObject({ exitCode: 0, output: "direct" });
    server.close();
    await once(server, "close");
    const errors = expect.stringContaining("ECONNREFUSED") as string;
    expect(await dial()).toMatchObject({ exitCode: 1, errors });
  });

  test.each([[[]], [["host"]], [["host", "port"]], [["host", "22", "more"]]])(
    "exits with 2 for the arguments %j",
    async (args) => {
      const errors = "usage: al-connect <host> <port>\n";
      expect(await call(args, {}).ended).toMatchObject({ exitCode: 2, errors });
    },
  );
});
