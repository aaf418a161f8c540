import { createServer, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Alert } from "../../../src/features/alerts/rules/alert.ts";
import type { Fields } from "../../../src/features/alerts/target.ts";
import { certificateFor } from "../../helpers/git-https-server.ts";
import { mailLogin, startMailServer } from "./mail-server.ts";
import { alerts, messageFor, sendWith, targetOf } from "./samples.ts";
import { listen } from "../../helpers/listen.ts";

const usual = getCACertificates("default");
const own = certificateFor("DNS:localhost");
beforeAll(() => setDefaultCACertificates([...usual, own.cert]));
afterAll(() => setDefaultCACertificates(usual));

type ServerOptions = Parameters<typeof startMailServer>[0];
const to = ["ops@example.com"];
const from = "Almanac <almanac@example.com>";
const { opened } = alerts;

/** Sends e-mail to a port of this machine. */
function sending(port: number) {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const send = (
    fields: Fields = mailLogin,
    more: { alert?: Alert; to?: string[]; timeoutMs?: number } = {},
  ) =>
    sendWith(
      { host: "localhost", port: String(port), from, ...fields },
      { warn, timeoutMs: more.timeoutMs ?? 10_000 },
    )(messageFor(more.alert ?? opened), targetOf("email", more.to ?? to));
  return { send, warnings };
}

async function mailServer(options: ServerOptions = own) {
  const server = await startMailServer(options);
  onTestFinished(server.close);
  return { ...server, ...sending(server.port) };
}

const accepted = { type: "accepted" };
const failed = (part = "") => ({
  type: "failed",
  error: expect.stringContaining(part) as string,
});

test.each<[string, ServerOptions, Fields, object]>([
  ["STARTTLS, user and password", own, mailLogin, { secure: true, user: "alerts" }],
  [
    "implicit TLS",
    { ...own, secure: true },
    { ...mailLogin, tls: "implicit" },
    { secure: true, user: "alerts" },
  ],
  [
    "no encryption if its credential says tls = none",
    { disabledCommands: ["STARTTLS", "AUTH"] },
    { tls: "none" },
    { secure: false, user: null },
  ],
])("e-mail is sent with %s", async (_, options, fields, how) => {
  const { send, mails } = await mailServer(options);
  expect(await send(fields)).toEqual(accepted);
  expect(mails).toMatchObject([{ ...how, from: "almanac@example.com", to }]);
});

test("e-mail and its password are not sent unencrypted by default", async () => {
  const { send, mails, passwords } = await mailServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
  });
  expect(await send(mailLogin)).toMatchObject(failed());
  expect(await send({})).toMatchObject(failed());
  expect([mails, passwords]).toEqual([[], []]);
});

test("e-mail is not sent to a server whose certificate is not trusted", async () => {
  const { send, mails } = await mailServer(certificateFor("DNS:localhost"));
  expect(await send()).toMatchObject(failed("certificate"));
  expect(mails).toEqual([]);
});

test("e-mail has a subject, text, HTML and a header against automatic replies; all attempts have one id", async () => {
  const { send, mails } = await mailServer();
  await send();
  await send();
  for (const { headers, raw } of mails) {
    expect(Object.fromEntries(headers)).toMatchObject({
      subject: "[acme & <co>] dev failed",
      to: "ops@example.com",
      "message-id": `<${messageFor(opened).id}@example.com>`,
      "auto-submitted": "auto-generated",
    });
    for (const part of ["text/plain", "text/html", "Why: the hook ./build failed with exit code 2"])
      expect(raw).toContain(part);
  }
  expect(mails).toHaveLength(2);
});

test("e-mail shows untrusted text in its body only, never as a header or HTML", async () => {
  const { send, mails } = await mailServer();
  const alert = { ...alerts.hostile, agent: "a\r\nBcc: x@evil.test\r\n\r\nbody" };
  expect(await send(mailLogin, { alert })).toEqual(accepted);
  expect(mails).toMatchObject([{ to }]);
  expect(mails[0]?.headers.has("bcc")).toBe(false);
  expect(mails[0]?.raw.replaceAll("=\r\n", "")).toContain("&lt;b&gt;&quot;&amp;amp;&#39;");
});

test("sending an e-mail with a wrong password fails without showing the password", async () => {
  const { send } = await mailServer();
  const answer = await send({ ...mailLogin, password: "wr0ng-password" });
  expect(answer).toMatchObject({ type: "failed", afterMs: null });
  expect(JSON.stringify(answer)).not.toContain("wr0ng-password");
});

test("sending an e-mail fails if the server rejects every recipient", async () => {
  const { send } = await mailServer();
  expect(await send(mailLogin, { to: ["unknown@example.com"] })).toMatchObject(failed("550"));
});

test("sending an e-mail succeeds if the server accepts some recipients, with a warning about the others", async () => {
  const { send, mails, warnings } = await mailServer();
  expect(await send(mailLogin, { to: ["unknown@example.com", ...to] })).toEqual(accepted);
  expect(mails).toMatchObject([{ to }]);
  expect(warnings).toEqual(["the mail server of ops refused an alert for unknown@example.com"]);
});

test.each<[string, (socket: Socket) => unknown]>([
  ["says nothing", () => undefined],
  ["greets and then sends one byte after the other", drip],
  ["closes the connection in the middle", (socket) => socket.end("220 here\r\n")],
])(
  "sending an e-mail fails within its timeout if the server %s, and leaves no connection",
  async (_name, greet) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on("error", () => undefined).resume());
      greet(socket);
    });
    const port = await listen(server);
    onTestFinished(() => void server.close());
    const { send } = sending(port);
    const begin = performance.now();
    expect(await send(mailLogin, { timeoutMs: 1_000 })).toMatchObject(failed());
    expect(performance.now() - begin).toBeLessThan(60_000);
    await expect.poll(() => sockets.every((one) => one.destroyed)).toBe(true);
  },
);

function drip(socket: Socket): void {
  socket.write("220 here\r\n");
  const timer = setInterval(() => socket.write("2"), 50);
  socket.once("close", () => clearInterval(timer));
}
