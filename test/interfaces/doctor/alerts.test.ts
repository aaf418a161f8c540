import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { openStore } from "../../../src/foundation/store/store.ts";
import { plainAgent } from "./fault.ts";
import { ward } from "./support.ts";

const found = () => ward.found("alerts");
/** Targets of a project whose dashboard has a public address. */
const withTargets = (lines: string): void => {
  ward.toProject(lines);
  ward.edit("config.toml", "port = 0", 'port = 0\npublicUrl = "https://al.example"');
};
const ops = '[alerts.ops]\ntype = "slack"\n';
const withOps = async () => {
  withTargets(ops);
  await ward.credential("slack_webhook", "url", "https://hooks.example/x");
};
const like = (what: RegExp) => expect.stringMatching(what) as string;

describe("targets of alerts", () => {
  test("a project without any gets a note", async () =>
    expect(await found()).toMatchObject([
      { severity: "note", what: like(/there is no target of alerts/) },
    ]));

  test("a target that can send is in order, with its facts and how to test it", async () => {
    await withOps();
    expect(await found()).toMatchObject([
      {
        severity: "ok",
        what: like(/^ops \(slack\) has the alerts of all agents; al alerts test ops/),
      },
    ]);
  });

  test("a target that is switched off is an error; al alerts test switches it on", async () => {
    await withOps();
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

  test("no target is sent anything", async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response.end();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    withTargets('[alerts.own]\ntype = "webhook"\n');
    await ward.credential("alert_webhook", "url", `http://127.0.0.1:${port}/`);
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    await ward.credential("alert_webhook", "secret", secret);
    expect(await found()).toMatchObject([{ severity: "ok" }]);
    expect(requests).toBe(0);
  });

  test.each([
    ["slack", "slack_webhook", { url: "hooks.example/x" }, "url is not an address"],
    ["ntfy", "ntfy_topic", { url: "https://ntfy.sh/" }, "url does not end with a topic"],
    ["webhook", "alert_webhook", { url: "https://a.example", secret: "short" }, "secret is not wh"],
    ["email", "smtp", { host: "mail.example", from: "a@b.example", port: "smtp" }, "port"],
  ])(
    "a field of a %s target that can't be used is an error",
    async (type, credential, fields, says) => {
      const to = type === "email" ? 'to = ["a@b.example"]\n' : "";
      withTargets(`[alerts.ops]\ntype = "${type}"\n${to}`);
      for (const [field, value] of Object.entries(fields)) {
        await ward.credential(credential, field, value);
      }
      expect(await found()).toMatchObject([
        {
          severity: "error",
          where: "config.toml [alerts.ops]",
          fix: `al creds add ${credential} --replace`,
          what: like(new RegExp(`${type} target ops.*${says}`)),
        },
      ]);
    },
  );

  test("a target that no list names is a note; so is a dashboard without a public address", async () => {
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

  test("a target that an agent names and the project lacks is the agent's error", async () => {
    withTargets(ops);
    ward.toAgent('[alert]\nto = ["opps"]');
    const what =
      'target "opps" of alerts is not defined; expected one of "ops"; did you mean "ops"?';
    expect(await ward.found("agents")).toContainEqual(
      expect.objectContaining({ severity: "error", what }),
    );
  });
});
