import { openStore } from "../../../src/features/open-store.ts";
import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import { createServer } from "node:http";
import { listen } from "../../helpers/listen.ts";
import { plainAgent } from "./fault.ts";
import { ward } from "./support.ts";
import { like } from "../../helpers/like.ts";

const found = () => ward.found("alerts");
/** Targets of a project whose dashboard has a public address. */
const withTargets = (lines: string): void => {
  ward.toProject(lines);
  ward.edit("config.toml", "port = 0", 'port = 0\npublicUrl = "https://al.example"');
};
const ops = '[alerts.ops]\ntype = "slack"\n';

describe("the doctor", () => {
  test("notes a project without an alert target", async () =>
    expect(await found()).toMatchObject([
      { severity: "note", what: like(/there is no target of alerts/) },
    ]));

  test("accepts a working alert target without sending an alert", async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response.end();
    });
    onTestFinished(() => void server.close());
    withTargets('[alerts.own]\ntype = "webhook"\n');
    await ward.credential("alert_webhook", "url", `http://127.0.0.1:${await listen(server)}/`);
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    await ward.credential("alert_webhook", "secret", secret);
    expect(await found()).toMatchObject([
      {
        severity: "ok",
        what: like(/^own \(webhook\) has the alerts of all agents; al alerts test own/),
      },
    ]);
    expect(requests).toBe(0);
  });

  test("reports an alert target that is switched off as an error", async () => {
    withTargets(ops);
    await ward.credential("slack_webhook", "url", "https://hooks.example/x");
    const store = openStore(ward.dir, Date.now);
    const reason = "it answered 410: no_service";
    await store.tables(createAlertStore).switchOff("ops", { at: 1, reason });
    store.close();
    expect(await found()).toMatchObject([
      {
        severity: "error",
        what: `ops (slack) is switched off, nothing is sent to it: ${reason}`,
        fix: like(/^al creds add slack_webhook --replace; al alerts test ops /),
      },
    ]);
  });

  test("reports an alert target with an invalid field as an error", async () => {
    withTargets(ops);
    await ward.credential("slack_webhook", "url", "hooks.example/x");
    expect(await found()).toMatchObject([
      {
        severity: "error",
        where: "config.toml [alerts.ops]",
        fix: "al creds add slack_webhook --replace",
        what: like(/slack target ops.*url is not an address/),
      },
    ]);
  });

  test("notes an unused alert target and a missing publicUrl", async () => {
    ward.toProject(`${ops}[alerts.old]\ntype = "discord"`);
    ward.edit("config.toml", "[models.claude]", '[alert]\nto = ["ops"]\n\n[models.claude]');
    ward.write("agents/ops/config.toml", `${plainAgent}[alert]\nto = []\n`);
    ward.write("agents/ops/SKILL.md", "Do it.\n");
    await ward.credential("slack_webhook", "url", "https://hooks.example/x");
    await ward.credential("discord_webhook", "url", "https://discord.example/x");
    expect(await found()).toMatchObject([
      { what: like(/^ops \(slack\) has the alerts of dev;/) },
      { severity: "note", what: "nothing is sent to old" },
      { severity: "note", what: "links in alerts lead to this machine's own address" },
    ]);
  });
});
