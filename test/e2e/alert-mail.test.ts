import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { mailLogin, startMailServer } from "../features/alerts/mail-server.ts";
import type { MailServer } from "../features/alerts/mail-server.ts";
import { certificateAuthority } from "../helpers/certificate-authority.ts";
import { copyProject, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const authority = certificateAuthority();
afterAll(() => authority.remove());

let project: TestProject;
let server: MailServer;
let scheduler: TestScheduler | null = null;
afterEach(async () => {
  await scheduler?.stop();
  scheduler = null;
  await server.close();
  await project.remove();
});

/** The first example with a mail server as its target of alerts. */
async function start(password: string): Promise<TestScheduler> {
  project = await copyProject("examples/hello");
  server = await startMailServer(authority.issue("localhost"));
  const target = '\n[alerts.ops]\ntype = "email"\nto = ["ops@example.com"]\n';
  await appendFile(join(project.dir, "config.toml"), target);
  const credential = join(project.home, "credentials/smtp/default");
  await mkdir(credential, { recursive: true, mode: 0o700 });
  const fields = {
    host: "localhost",
    port: String(server.port),
    user: mailLogin.user,
    password,
    from: "almanac@example.com",
  };
  for (const [field, value] of Object.entries(fields)) {
    await writeFile(join(credential, field), value, { mode: 0o600 });
  }
  const trusted = join(project.dir, "authority.pem");
  await writeFile(trusted, authority.cert);
  return startTestScheduler(project, { env: { NODE_EXTRA_CA_CERTS: trusted } });
}

test("the built program sends a mail by TLS", async () => {
  scheduler = await start(mailLogin.password);
  const answer = await scheduler.api("/api/alerts/targets/ops/test", { method: "POST" });
  expect(await answer.json()).toEqual({ accepted: true, error: null });
  expect(server.mails).toMatchObject([{ to: ["ops@example.com"], secure: true, user: "alerts" }]);
});

test("a test alert with a wrong password reports that without the password", async () => {
  scheduler = await start("wr0ng-password");
  const answer = await scheduler.api("/api/alerts/targets/ops/test", { method: "POST" });
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({ accepted: false });
  expect(text).toContain("535");
  expect(text + scheduler.output()).not.toContain("wr0ng-password");
});
