import { afterAll, afterEach, expect, test } from "vitest";
import { mailLogin, startMailServer } from "../features/alerts/mail-server.ts";
import type { MailServer } from "../features/alerts/mail-server.ts";
import { certificateAuthority } from "../helpers/certificate-authority.ts";
import { LiveProject } from "../helpers/live-project.ts";
import type { TestScheduler } from "../helpers/scheduler.ts";

const authority = certificateAuthority();
afterAll(() => authority.remove());

let server: MailServer;
afterEach(() => server.close());

/** The first example with a mail server as its target of alerts. */
async function start(password: string): Promise<TestScheduler> {
  const project = await LiveProject.copy("examples/hello");
  server = await startMailServer(authority.issue("localhost"));
  const target = '\n[alerts.ops]\ntype = "email"\nto = ["ops@example.com"]\n';
  await project.append("config.toml", target);
  const { user } = mailLogin;
  const login = { host: "localhost", port: String(server.port), user, password };
  for (const [field, value] of Object.entries({ ...login, from: "almanac@example.com" })) {
    await project.store(`smtp/default/${field}`, value);
  }
  await project.write("authority.pem", authority.cert);
  return project.start({ env: { NODE_EXTRA_CA_CERTS: project.path("authority.pem") } });
}

test("the built program sends a mail by TLS", async () => {
  const scheduler = await start(mailLogin.password);
  const answer = await scheduler.api("/api/alerts/targets/ops/test", { method: "POST" });
  expect(await answer.json()).toEqual({ accepted: true, error: null });
  expect(server.mails).toMatchObject([{ to: ["ops@example.com"], secure: true, user: "alerts" }]);
});

test("a test alert with a wrong password reports that without the password", async () => {
  const scheduler = await start("wr0ng-password");
  const answer = await scheduler.api("/api/alerts/targets/ops/test", { method: "POST" });
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({ accepted: false });
  expect(text).toContain("535");
  expect(text + scheduler.output()).not.toContain("wr0ng-password");
});
