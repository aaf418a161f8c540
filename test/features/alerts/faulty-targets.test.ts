import { createServer, type Socket } from "node:net";
import type { SendAlert, TargetAnswer } from "../../../src/features/alerts/rules/alert.ts";
import { createSendRequest } from "../../../src/foundation/contracts/outgoing-request.ts";
import { Problem } from "../../../src/foundation/errors.ts";
import { webhookSecret } from "./fake-apis.ts";
import { startReceiver } from "./receiver.ts";
import { senderWorld } from "./sender-world.ts";
import { alerts, messageFor, sendWith, targetOf } from "./samples.ts";
import { listen } from "../../helpers/listen.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that does with a connection what no server of HTTP should. */
async function faultyServer(fault: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.once("data", () => fault(socket)).resume();
  });
  const port = await listen(server);
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${port}`;
}

function sendTo(url: string): SendAlert {
  const sendRequest = createSendRequest({ proxyEnv: {}, timeoutMs: 2_000 });
  return sendWith({ url, secret: webhookSecret }, { sendRequest });
}

test.each<[string, (socket: Socket) => void]>([
  ["hangs", () => undefined],
  ["does not speak HTTP", (socket) => socket.end("220 mail.example.test ESMTP\r\n")],
  ["sends endless headers", (socket) => endless(socket)],
])(
  "a delivery to a target that %s fails within its timeout, and delays no other target",
  async (name, fault) => {
    const good = await startReceiver(() => ({ status: 200 }));
    const [toBad, toGood] = [sendTo(await faultyServer(fault)), sendTo(good.base)];
    const answers: TargetAnswer[] = [];
    const world = senderWorld({
      send: async (message, target) => {
        if (target.name !== "ops") return toGood(message, target);
        const answer = await toBad(message, target);
        answers.push(answer);
        return answer;
      },
    });
    await world.add("1@ops", "2@dev", "3@dev");
    await expect.poll(() => good.received.length, { interval: 2 }).toBe(2);
    if (name === "hangs") expect(answers).toEqual([]);
    await world.recorded(3);
    expect(answers).toMatchObject([{ type: "failed", afterMs: null }]);
    expect(world.counts()).toEqual({ waiting: 1, dead: 0 });
  },
);

const message = messageFor(alerts.opened);

test("an alert fails with a hint if its credential is missing", async () => {
  const missing = new Problem(
    "missing_credential",
    "credential alert_webhook is missing",
    "al creds add alert_webhook",
  );
  const sendAlert = sendWith({}, { credential: () => Promise.reject(missing) });
  expect(await sendAlert(message, targetOf("webhook"))).toEqual({
    type: "failed",
    error: "credential alert_webhook is missing; al creds add alert_webhook",
    afterMs: null,
  });
});

test.each([150, 170, 185, 195, 280, 290])(
  "the error of an alert shows no part of a secret that stands after %s characters of the response",
  async (before) => {
    const path = "/services/T0AAAAAAA/xoxb-secretsecretsecret";
    const body = `${"x".repeat(before)} s3cret-token ${path}`;
    const { base } = await startReceiver(() => ({ status: 404, body }));
    const redact = (text: string) => text.replaceAll("s3cret-token", "[redacted]");
    const sendAlert = sendWith({ url: `${base}${path}` }, { redact });
    const answer = await sendAlert(message, targetOf("slack"));
    const error = answer.type === "accepted" ? "" : answer.error;
    expect(error).not.toMatch(/s3cret|T0A|xoxb/);
    expect(error.length).toBeLessThanOrEqual(300);
  },
);

function endless(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\n");
  const timer = setInterval(() => socket.write(`x: ${"y".repeat(4_000)}\r\n`), 5);
  socket.once("close", () => clearInterval(timer));
}
