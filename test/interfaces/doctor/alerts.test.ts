import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import { createServer } from "node:http";
import { openStore } from "../../../src/foundation/store/store.ts";
import { agentConfig, plainAgent } from "./fault.ts";
import { ward } from "./support.ts";

const found = async () => (await ward.runChecks()).filter(({ check }) => check === "alerts");
const withTargets = (lines: string): void => {
  ward.edit("config.toml", "[gateway]", `${lines}\n[gateway]\npublicUrl = "https://al.example"`);
};
const ops = '[alerts.ops]\ntype = "slack"\n';

describe("targets of alerts", () => {
  test("a project without any gets a note", async () =>
    expect(await found()).toMatchObject([
      { severity: "note", what: expect.stringContaining("there is no target of alerts") as string },
    ]));

  test("a target that can send is in order, with its facts and how to test it", async () => {
    withTargets(ops);
    await ward.credential("slack_webhook", "url", "https://hooks.example/x");
    const [finding, ...others] = await found();
    expect(others).toEqual([]);
    expect(finding?.severity).toBe("ok");
    expect(finding?.what).toMatch(
      /^ops \(slack\) has the alerts of all agents; al alerts test ops/,
    );
  });

  test("a target that is switched off is an error; al alerts test switches it on", async () => {
    withTargets(ops);
    await ward.credential("slack_webhook", "url", "https://hooks.example/x");
    const store = openStore(ward.dir, Date.now);
    await store
      .tables(createAlertStore)
      .switchOff("ops", { at: 1, reason: "it answered 410: no_service" });
    store.close();
    expect(await found()).toMatchObject([
      {
        severity: "error",
        what: "ops (slack) is switched off, nothing is sent to it: it answered 410: no_service",
        fix: expect.stringMatching(
          /^al creds add slack_webhook --replace; al alerts test ops /,
        ) as string,
      },
    ]);
  });

  test("no target is sent anything", async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    withTargets('[alerts.own]\ntype = "webhook"\n');
    await ward.credential("alert_webhook", "url", `http://127.0.0.1:${port}/`);
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    await ward.credential("alert_webhook", "secret", secret);
    expect(await found()).toMatchObject([{ severity: "ok" }]);
    expect(requests).toBe(0);
    server.close();
  });

  test.each([
    ["slack", "slack_webhook", { url: "hooks.example/x" }, "url is not an address"],
    ["ntfy", "ntfy_topic", { url: "https://ntfy.sh/" }, "url does not end with a topic"],
    ["webhook", "alert_webhook", { url: "https://a.example", secret: "short" }, "secret is not wh"],
    ["email", "smtp", { host: "mail.example", from: "a@b.example", port: "smtp" }, "port"],
  ])(
    "a field of a %s target that can't be used is an error",
    async (type, credential, fields, says) => {
      withTargets(
        `[alerts.ops]\ntype = "${type}"\n${type === "email" ? 'to = ["a@b.example"]\n' : ""}`,
      );
      for (const [field, value] of Object.entries(fields)) {
        await ward.credential(credential, field, value);
      }
      const [finding, ...others] = await found();
      expect(others).toEqual([]);
      expect(finding).toMatchObject({
        severity: "error",
        where: "config.toml [alerts.ops]",
        fix: `al creds add ${credential} --replace`,
      });
      expect(finding?.what).toContain(says);
      expect(finding?.what).toContain(`${type} target ops`);
    },
  );

  test("a target that no list names is a note; so is a dashboard without a public address", async () => {
    ward.edit("config.toml", "[gateway]", `${ops}[alerts.old]\ntype = "discord"\n[gateway]`);
    ward.edit("config.toml", "[models.claude]", '[alert]\nto = ["ops"]\n\n[models.claude]');
    ward.write("agents/ops/config.toml", `${plainAgent}[alert]\nto = []\n`);
    ward.write("agents/ops/SKILL.md", "Do it.\n");
    await ward.credential("slack_webhook", "url", "https://hooks.example/x");
    await ward.credential("discord_webhook", "url", "https://discord.example/x");
    expect(await found()).toMatchObject([
      { what: expect.stringMatching(/^ops \(slack\) has the alerts of dev;/) as string },
      { severity: "note", what: "nothing is sent to old" },
      { severity: "note", what: "links in alerts lead to this machine's own address" },
    ]);
  });

  test("a target that an agent names and the project lacks is the agent's error", async () => {
    withTargets(ops);
    ward.edit(agentConfig, "[runtime]", '[alert]\nto = ["opps"]\n\n[runtime]');
    const what =
      'target "opps" of alerts is not defined; expected one of "ops"; did you mean "ops"?';
    expect(await ward.runChecks()).toContainEqual(
      expect.objectContaining({ check: "agents", severity: "error", what }),
    );
  });
});
