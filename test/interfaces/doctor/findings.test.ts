import { createServer } from "node:http";
import { dirname } from "node:path";
import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import { openStore } from "../../../src/features/open-store.ts";
import type { CheckFinding } from "../../../src/interfaces/doctor/run-checks.ts";
import { claimed, cronItem, succeeded } from "../../foundation/store/support.ts";
import { spendOn } from "../../foundation/store/spend-on.ts";
import { listen } from "../../helpers/listen.ts";
import { plainAgent } from "./fault.ts";
import { agentConfig, runInCluster, runInContainer, ward } from "./support.ts";

const addOps = (lines = ""): void => {
  ward.write("agents/ops/config.toml", plainAgent + lines);
  ward.write("agents/ops/SKILL.md", "Do it.\n");
};

const ofClaude =
  (lines = "", { model = "claude-sonnet-4-5", price = "", project = "" } = {}) =>
  (): void => {
    ward.edit(agentConfig, '["scripted"]', '["claude"]');
    ward.edit("config.toml", '"claude-sonnet-4-5"', `"${model}"\nauthType = "none"${price}`);
    ward.toAgent(lines);
    ward.toProject(project);
  };

/** Runs of dev cost cents, and a limit is below what they will cost. */
const spending = (agent: string, project: string) => async (): Promise<void> => {
  const cent = 10_000_000;
  const store = openStore(ward.dir);
  await spendOn(store, "dev", [cent, cent, 2 * cent]);
  store.close();
  ward.toAgent(agent);
  ward.toProject(project);
};

const slack = '[alerts.ops]\ntype = "slack"\n';
/** Targets of a project whose dashboard has a public address. */
const withTargets = (lines: string): void => {
  ward.toProject(lines);
  ward.edit("config.toml", "port = 0", 'port = 0\npublicUrl = "https://al.example"');
};

/** A project whose agents `dev` and `ops` run each minute, in one slot, and whose last runs took this many minutes. */
const eachMinute = (minutes: number) => async (): Promise<void> => {
  await ward.run("al config --set scale=1");
  ward.edit(agentConfig, "0 9 * * 1-5", "* * * * *");
  await ward.run("cp -r agents/dev agents/ops");
  const store = openStore(ward.dir);
  for (const agent of ["dev", "ops"]) {
    const item = cronItem(agent, agent);
    const instanceId = `${agent}-1`;
    await claimed(store, item, instanceId);
    const startedAt = Date.now() - minutes * 60_000;
    await store.work.end(item, { instanceId, startedAt, end: succeeded });
  }
  store.close();
};

/** Runs of dev asked for hosts today, and for one long ago. */
async function askHosts(): Promise<void> {
  let now = Date.now() - 40 * 86_400_000;
  const store = openStore(ward.dir, () => now);
  const one = { instanceId: "dev-1", agent: "dev", port: 443, detail: "", bytesOut: 0, bytesIn: 0 };
  store.hosts.add({ ...one, host: "long-ago.test", denied: "not_allowed" });
  await store.hosts.flush();
  now = Date.now();
  for (const host of ["api.evil.test", "api.evil.test", "api.github.com"])
    store.hosts.add({ ...one, host, denied: "not_allowed" });
  store.hosts.add({ ...one, host: "down.test", denied: "unreachable" });
  store.hosts.add({ ...one, host: "fine.test", denied: null });
  await store.hosts.flush();
  store.close();
}

const image = () => runInContainer({}, 'image = "al-agent:latest"');
const none = (): void => undefined;
const cli = '[harness]\ntype = "llm-cli"\ncommand = "claude"';
const bridge = '[local]\nnetwork = "bridge"';

const cases: readonly (readonly [check: string, of: string, seed: () => unknown])[] = [
  ["budget", "a scripted model without a limit", none],
  ["budget", "a priced model without a limit", ofClaude()],
  ["budget", "a limit per day", ofClaude("[budget]\nday = 5")],
  [
    "budget",
    "a free model",
    ofClaude("[budget]\nrun = 5", { price: "\nprice = { input = 0, output = 0 }" }),
  ],
  [
    "budget",
    "an unknown price",
    ofClaude("", { model: "claude-next", project: "[budget]\nmonth = 100" }),
  ],
  ["budget", "a forecast", spending("", "")],
  ["budget", "a forecast above an agent's limit", spending("[budget]\nmonth = 0.05", "")],
  ["budget", "a forecast above the project's limit", spending("", "[budget]\nday = 0.001")],
  ["budget", "a pause", () => ward.toAgent('[budget]\nonLimit = "pause"')],
  ["budget", "a pause of llm-cli", () => ward.toAgent(`[budget]\nonLimit = "pause"\n${cli}`)],
  ["budget", "a first request above the limit", ofClaude(`[budget]\nday = 5\nrun = 0.5\n${cli}`)],
  ["network", "a project that opens it", () => (addOps(), ward.toProject(bridge))],
  ["network", "an agent that opens it", () => ward.toAgent(bridge)],
  [
    "network",
    "an agent that opens it otherwise",
    () => (ward.toProject('[local]\nnetwork = "lan"'), ward.toAgent(bridge)),
  ],
  [
    "network",
    "hosts of a credential that no agent lists",
    () =>
      ward.toProject(
        '[network.credentials]\ngithub_token = ["ghe.example.com"]\n"github_token:default" = ["a.example.com"]\nslack_bot_token = ["b.example.com"]',
      ),
  ],
  [
    "network",
    "private hosts",
    () => {
      ward.toProject('[network]\nallow = ["npm"]');
      ward.toAgent('[network]\nallow = ["db.lan:5432 private"]');
    },
  ],
  ["alerts", "no target", none],
  [
    "alerts",
    "a target that was switched off",
    async () => {
      withTargets(slack);
      await ward.credential("slack_webhook", "url", "https://hooks.example/x");
      const store = openStore(ward.dir, Date.now);
      const reason = "it answered 410: no_service";
      await store.tables(createAlertStore).switchOff("ops", { at: 1, reason });
      store.close();
    },
  ],
  [
    "alerts",
    "an invalid address",
    () => (withTargets(slack), ward.credential("slack_webhook", "url", "hooks.example/x")),
  ],
  [
    "alerts",
    "an unused target and a missing publicUrl",
    async () => {
      ward.toProject(`${slack}[alerts.old]\ntype = "discord"`);
      ward.edit("config.toml", "[models.claude]", '[alert]\nto = ["ops"]\n\n[models.claude]');
      addOps("[alert]\nto = []\n");
      await ward.credential("slack_webhook", "url", "https://hooks.example/x");
      await ward.credential("discord_webhook", "url", "https://discord.example/x");
    },
  ],
  ["hosts", "denied and reached hosts", askHosts],
  ["engine", "the default image of another project or version", image],
  ["cluster", "a Swarm of one machine", () => runInCluster('address = "10.0.0.5:8443"')],
  [
    "containers",
    "runs of a dead scheduler",
    () => {
      const left = [{ Id: "0123456789abcdef", Labels: { "al.instance": "dev-abcd2345" } }];
      return runInContainer({ "/containers/json": left });
    },
  ],
  ["slots", "an agent alone", none],
  ["slots", "two agents in one slot", eachMinute(0.4)],
  ["slots", "two long agents in one slot", eachMinute(0.6)],
];

/** Findings without what differs from day to day. */
const textOf = (findings: readonly CheckFinding[]): string =>
  findings
    .map(
      ({ severity, what, where, fix }) =>
        `${severity} ${what}${where === null ? "" : ` (${where})`}\n  ${fix ?? "no fix"}\n`,
    )
    .join("")
    .replaceAll(ward.dir, "<project>")
    .replaceAll(dirname(ward.dir), "<folder>")
    .replaceAll(/al-agent:\S+-[0-9a-f]{12}/g, "al-agent:<version>")
    .replaceAll(/\$0\.([24])\d/g, "$$0.$1<n>")
    .replaceAll(/due .+?, but/g, "due <time>, but");

// `vitest run <this file> -u` records the findings anew: each difference is a decision.
test.each(cases)(
  "the doctor's check %s of %s finds what the fixture has, and its commands fix that",
  async (check, of, seed) => {
    await seed();
    const findings = await ward.found(check);
    await expect(textOf(findings)).toMatchFileSnapshot(
      `findings/${`${check} ${of}`.replaceAll(/\W+/g, "-")}.txt`,
    );
    const isFault = ({ severity }: CheckFinding) => ["warning", "error"].includes(severity);
    const [fault] = findings.filter((one) => isFault(one) && /\bal config /.test(one.fix ?? ""));
    if (fault === undefined) return;
    await ward.fix(fault);
    expect((await ward.found(check)).filter(isFault)).toEqual([]);
  },
);

test("the doctor accepts a working alert target without sending an alert", async () => {
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
  const found = await ward.found("alerts");
  expect(found.map(({ severity }) => severity)).toEqual(["ok"]);
  expect(requests).toBe(0);
});
