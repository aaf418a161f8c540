import { createServer, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Alert } from "../../../src/features/alerts/rules/alert.ts";
import type { Fields } from "../../../src/features/alerts/target.ts";
import { certificateAuthority } from "../../helpers/certificate-authority.ts";
import { mailLogin, startMailServer, type MailServer } from "./mail-server.ts";
import { alerts, messageFor, sendWith, targetOf } from "./samples.ts";

const authority = certificateAuthority();
const usual = getCACertificates("default");
const own = authority.issue("localhost");
beforeAll(() => setDefaultCACertificates([...usual, authority.cert]));
afterAll(() => {
  setDefaultCACertificates(usual);
  authority.remove();
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function mailServer(options: Parameters<typeof startMailServer>[0]): Promise<MailServer> {
  const server = await startMailServer(options);
  closers.push(() => server.close());
  return server;
}

const warnings: string[] = [];
const from = "Almanac <almanac@example.com>";

function send(
  port: number,
  fields: Fields = mailLogin,
  { alert = alerts.opened as Alert, to = ["ops@example.com"], timeoutMs = 10_000 } = {},
) {
  warnings.length = 0;
  const sendAlert = sendWith(
    { host: "localhost", port: String(port), from, ...fields },
    { warn: (message) => warnings.push(message), timeoutMs },
  );
  return sendAlert(messageFor(alert), targetOf("email", to));
}

const failed = (part: string) => ({
  type: "failed",
  error: expect.stringContaining(part) as string,
});

test("e-mail goes by STARTTLS, with user and password", async () => {
  const { port, mails } = await mailServer(own);
  expect(await send(port)).toEqual({ type: "accepted" });
  const [mail] = mails;
  const to = ["ops@example.com"];
  expect(mail).toMatchObject({ secure: true, user: "alerts", from: "almanac@example.com", to });
});

test("e-mail goes by implicit TLS", async () => {
  const { port, mails } = await mailServer({ ...own, secure: true });
  expect(await send(port, { ...mailLogin, tls: "implicit" })).toEqual({ type: "accepted" });
  expect(mails).toMatchObject([{ secure: true, user: "alerts" }]);
});

test("e-mail is unencrypted only if configured so", async () => {
  const { port, mails } = await mailServer({ disabledCommands: ["STARTTLS", "AUTH"] });
  expect(await send(port, {})).toMatchObject({ type: "failed" });
  expect(mails).toEqual([]);
  expect(await send(port, { tls: "none" })).toEqual({ type: "accepted" });
  expect(mails).toMatchObject([{ secure: false, user: null }]);
});

test("e-mail sends no password over a connection that can't be encrypted", async () => {
  const { port, passwords } = await mailServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
  });
  expect(await send(port)).toMatchObject({ type: "failed" });
  expect(passwords).toEqual([]);
});

test("e-mail is not sent to a server whose certificate is not trusted", async () => {
  const stranger = certificateAuthority();
  closers.push(() => Promise.resolve(stranger.remove()));
  const { port, mails } = await mailServer(stranger.issue("localhost"));
  expect(await send(port)).toMatchObject(failed("certificate"));
  expect(mails).toEqual([]);
});

test("e-mail has a subject, text and HTML, one id for all attempts, and asks for no automatic reply", async () => {
  const { port, mails } = await mailServer(own);
  await send(port);
  await send(port);
  for (const { headers, raw } of mails) {
    expect(Object.fromEntries(headers)).toMatchObject({
      subject: "[acme & <co>] dev failed",
      to: "ops@example.com",
      "message-id": `<${messageFor(alerts.opened as Alert).id}@example.com>`,
      "auto-submitted": "auto-generated",
    });
    for (const part of ["text/plain", "text/html", "Why: the hook ./build failed with exit code 2"])
      expect(raw).toContain(part);
  }
  expect(mails).toHaveLength(2);
});

test("e-mail has untrusted text as text, never as a header", async () => {
  const { port, mails } = await mailServer(own);
  const alert = { ...(alerts.hostile as Alert), agent: "a\r\nBcc: x@evil.test\r\n\r\nbody" };
  expect(await send(port, mailLogin, { alert })).toEqual({ type: "accepted" });
  expect(mails).toMatchObject([{ to: ["ops@example.com"] }]);
  expect(mails[0]?.headers.has("bcc")).toBe(false);
  expect(mails[0]?.raw.replaceAll("=\r\n", "")).toContain("&lt;b&gt;&quot;&amp;amp;&#39;");
});

test("e-mail accepts names that are not ASCII", async () => {
  const { port, mails } = await mailServer(own);
  const name = "Überwachung <a@example.com>";
  expect(await send(port, { ...mailLogin, from: name })).toEqual({ type: "accepted" });
  expect(mails[0]?.headers.get("from")).toContain("<a@example.com>");
});

test("an e-mail fails with a wrong password, which is not shown", async () => {
  const { port } = await mailServer(own);
  const answer = await send(port, { ...mailLogin, password: "wr0ng-password" });
  expect(answer).toMatchObject({ type: "failed", afterMs: null });
  expect(JSON.stringify(answer)).not.toContain("wr0ng-password");
});

test("an e-mail fails when the server rejects every recipient", async () => {
  const { port } = await mailServer(own);
  const to = ["unknown@example.com"];
  expect(await send(port, mailLogin, { to })).toMatchObject(failed("550"));
});

test("an e-mail succeeds if the server accepts some recipients: the others are a warning", async () => {
  const { port, mails } = await mailServer(own);
  const to = ["unknown@example.com", "ops@example.com"];
  expect(await send(port, mailLogin, { to })).toEqual({ type: "accepted" });
  expect(mails[0]?.to).toEqual(["ops@example.com"]);
  expect(warnings).toEqual(["the mail server of ops refused an alert for unknown@example.com"]);
});

test.each([
  ["says nothing", () => undefined],
  ["greets and then says one byte after the other", (socket: Socket) => drip(socket)],
  ["closes in the middle", (socket: Socket) => socket.end("220 here\r\n")],
])(
  "an e-mail fails within its timeout with a server that %s, and leaves no connection",
  async (_name, greet) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on("error", () => undefined).resume());
      greet(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => new Promise((resolve) => server.close(() => resolve())));
    const { port } = server.address() as { port: number };
    const begin = performance.now();
    const sent = await send(port, mailLogin, { timeoutMs: 1_000 });
    expect(sent).toMatchObject({ type: "failed" });
    expect(performance.now() - begin).toBeLessThan(10_000);
    await expect.poll(() => sockets.every((one) => one.destroyed)).toBe(true);
  },
);

function drip(socket: Socket): void {
  socket.write("220 here\r\n");
  const timer = setInterval(() => socket.write("2"), 50);
  socket.once("close", () => clearInterval(timer));
}
