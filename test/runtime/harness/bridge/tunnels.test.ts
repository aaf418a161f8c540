import { spawn } from "node:child_process";
import { request, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { basic, bridgedScheduler } from "./bridged-scheduler.ts";
import type { Tunnel } from "./bridged-scheduler.ts";
import { isLong } from "../../../helpers/long.ts";
import { pause } from "../../../helpers/pause.ts";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(bridgedScheduler, (side) => side.remove());

const accepted = "HTTP/1.1 200 Connection established\r\n\r\n";
const echo: Tunnel = (socket) => {
  socket.write(accepted);
  socket.pipe(socket);
};

/** A connection to the bridge that asked for a tunnel. */
function asking(target = "api.allowed.test:443", password = side().bridge.key): Socket {
  const { hostname, port } = new URL(side().bridge.proxyUrl);
  const client = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  client.write(
    `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: ${basic(password)}\r\n\r\n`,
  );
  return client.on("error", () => undefined);
}

/** The first bytes, as many as the text has. */
async function read(client: Socket, expected: string): Promise<void> {
  let seen = "";
  while (seen.length < expected.length) {
    const [chunk] = (await once(client, "data")) as [Buffer];
    seen += chunk.toString("latin1");
  }
  expect(seen).toBe(expected);
}

/** However it closes; a side that is still open notices only when it reads, and ends its own part then. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("close", () => resolve());
    socket.resume().once("end", () => socket.end());
  });
}

describe("a tunnel through the run's proxy", () => {
  test("goes to the scheduler with the run's token in place of the key", async () => {
    await side().serve(echo);
    const client = asking();
    await read(client, accepted);
    client.write("hello");
    await read(client, "hello");
    const [{ method, url, headers }] = side().asked as [IncomingMessage];
    expect([method, url]).toEqual(["CONNECT", "api.allowed.test:443"]);
    expect(headers["proxy-authorization"]).toBe("Bearer the-run-token");
    expect(JSON.stringify(headers)).not.toContain(side().bridge.key);
    client.destroy();
  });

  test("forwards bytes that arrive together with its header", async () => {
    await side().serve((socket, _request, head) => socket.end(`${accepted}first,${String(head)}`));
    const client = asking();
    client.write("early");
    expect(await text(client)).toMatch(/^HTTP\/1\.1 200 Connection established\r\n\r\nfirst,/);
  });

  test.each([
    ["no key", undefined],
    ["another key", "x".repeat(48)],
    ["an empty key", ""],
  ])("is rejected with 407 for %s, without asking the scheduler", async (_name, password) => {
    await side().serve(echo);
    const { hostname, port } = new URL(side().bridge.proxyUrl);
    const headers = password === undefined ? {} : { "proxy-authorization": basic(password) };
    const sent = request({ hostname, port, method: "CONNECT", path: "a.test:443", headers }).end();
    const [response] = (await once(sent, "connect")) as [IncomingMessage];
    expect(response.statusCode).toBe(407);
    expect(response.headers["proxy-authenticate"]).toBe('Basic realm="al"');
    expect(side().asked).toEqual([]);
  });

  test("forwards a rejection even if the scheduler closes its connection at once", async () => {
    // In a process of its own it may have closed before the bridge writes again.
    const program = `require("node:http").createServer().on("connect", (request, socket) => {
      socket.write("HTTP/1.1 403 denied\\r\\n\\r\\n");
      socket.destroySoon();
    }).listen(process.argv[1], () => console.log("listens"))`;
    const scheduler = spawn(process.execPath, ["-e", program, side().socket]);
    onTestFinished(() => void scheduler.kill());
    await once(scheduler.stdout, "data");
    for (let round = 0; round < (isLong ? 500 : 50); round++) {
      const asked = Array.from({ length: 8 }, () => text(asking("denied.test:443")));
      expect(new Set(await Promise.all(asked))).toEqual(new Set(["HTTP/1.1 403 denied\r\n\r\n"]));
    }
  });

  test("still receives when the client has ended its side", async () => {
    await side().serve((socket) => {
      socket.write(accepted);
      void text(socket).then((body) => socket.end(`got ${body}`));
    });
    const client = asking();
    await read(client, accepted);
    client.end("12345");
    expect(await text(client)).toBe("got 12345");
  });

  test("still sends when the scheduler has ended its side", async () => {
    const received = Promise.withResolvers<string>();
    await side().serve((socket) => {
      socket.end(accepted);
      void text(socket).then(received.resolve);
    });
    const client = asking();
    expect(await text(client)).toBe(accepted);
    client.end("still sent");
    expect(await received.promise).toBe("still sent");
  });

  test.each([
    ["the scheduler", (_client: Socket, upstream: Socket) => upstream.destroy()],
    ["the client", (client: Socket) => client.resetAndDestroy()],
  ])("is closed when %s breaks off", async (_side, breakOff) => {
    const begun = Promise.withResolvers<Socket>();
    await side().serve((socket) => {
      begun.resolve(socket);
      socket.write(accepted);
    });
    const client = asking();
    await read(client, accepted);
    const upstream = await begun.promise;
    const closed = [client, upstream].map(closeOf);
    breakOff(client, upstream);
    await Promise.all(closed);
  });

  test("reads no faster than the other side accepts data", async () => {
    let written = 0;
    await side().serve((socket) => {
      socket.write(accepted);
      const chunk = Buffer.alloc(64 * 1024);
      const more = (): void => {
        do written += chunk.length;
        while (written < 256 * 1024 * 1024 && socket.write(chunk));
      };
      socket.on("drain", more);
      more();
    });
    const client = asking();
    await once(client, "data");
    client.pause();
    await pause(600, "the scheduler must not send more than fits into the buffers");
    expect(written).toBeLessThan(16 * 1024 * 1024);
    client.destroy();
  });

  test("is closed with the proxy, even while unanswered", async () => {
    await side().serve((socket, incoming, head) => {
      if (incoming.url === "api.allowed.test:443") echo(socket, incoming, head);
    });
    const [open, waiting] = [asking(), asking("slow.test:443")];
    await read(open, accepted);
    await expect.poll(() => side().asked).toHaveLength(2);
    const closed = [open, waiting].map(closeOf);
    await side().closeBridge();
    await Promise.all(closed);
  });

  test("pauses the run's timeout until it is answered or its client is gone", async () => {
    const ends: string[] = [];
    let release = (): void => undefined;
    await side().serve((socket) => {
      socket.once("end", () => ends.push("hung up")).resume();
      release = () => void socket.write(accepted);
    });
    const gone = asking();
    await expect.poll(() => side().asked.length).toBe(1);
    expect(side().paused()).toBe(1);
    gone.destroy();
    await expect.poll(() => ends).toEqual(["hung up"]);
    await expect.poll(() => side().paused()).toBe(0);
    const patient = asking();
    await expect.poll(() => side().asked.length).toBe(2);
    expect(side().paused()).toBe(1);
    release();
    await read(patient, accepted);
    expect(side().paused()).toBe(0);
    patient.destroy();
  });
});
