import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { providerTable } from "../../../src/features/webhooks/providers/table.ts";
import { openStore } from "../../../src/foundation/store/store.ts";
import { bytes, githubExample } from "../../features/webhooks/deliveries.ts";
import { linearIssue } from "../../features/webhooks/payloads.ts";
import { cliProject } from "./fake-operator.ts";

const cli = cliProject();
let payload: string;

beforeEach(() => {
  cli.write(
    "config.toml",
    `[models.m]
provider = "scripted"
script = "s.toml"
[webhooks.hub]
type = "github"
credential = "default"
`,
  );
  payload = cli.write("payload.json", JSON.stringify(githubExample("issues", "opened")));
});

function agent(name: string, ...webhooks: readonly string[]): void {
  const entries = webhooks.map((entry) => `[[webhooks]]\n${entry}\n`).join("");
  const scale = name === "off" ? "scale = 0\n" : "";
  cli.write(`agents/${name}/config.toml`, `models = ["m"]\ncredentials = []\n${scale}${entries}`);
  cli.write(`agents/${name}/SKILL.md`, "---\nname: x\n---\nDo it.\n");
}

function secret(type: string, value: string): void {
  const dir = join(cli.home, "credentials", type, "default");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, "secret"), value, { mode: 0o600 });
}

const hub = 'source = "hub"';

test("al webhook test shows which agents a payload starts, and for each other one every filter that rejects it", async () => {
  agent("all", hub);
  agent("elsewhere", `${hub}\nrepos = ["acme/x"]\nactions = ["closed"]`);
  agent("twice", `${hub}\nevents = ["push"]`, `${hub}\nlabels = ["urgent"]`);
  agent("second", `${hub}\nevents = ["push"]`, `${hub}\nlabels = ["bug"]`);
  agent("off", hub);
  agent("broken", `${hub}\nrepo = ["a/b"]`);
  cli.write(
    "agents/deaf/config.toml",
    'models = ["m"]\ncredentials = []\nschedule = "0 9 * * *"\n',
  );
  cli.write("agents/deaf/SKILL.md", "Do it.\n");
  const { code, stdout, stderr } = await cli.al(["webhook", "test", payload, "--event", "issues"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^github issues opened, Codertocat\/Hello-World #1: Spelling error/);
  expect(stdout).toMatch(/^all +yes$/m);
  expect(stdout).toMatch(/^second +yes$/m);
  expect(stdout).toMatch(
    /^elsewhere +no +repos does not include Codertocat\/Hello-World; actions does not include opened$/m,
  );
  expect(stdout).toMatch(
    /^twice +no +1\. events does not include issues\n +2\. labels does not include bug$/m,
  );
  expect(stdout).toMatch(/^off +no +disabled: scale = 0/m);
  expect(stdout).toMatch(
    /^broken +no +agents\/broken\/config\.toml:\d+:\d+.*did you mean "repos"/m,
  );
  expect(stdout).not.toContain("deaf");
});

test("al webhook test names the payload value that an entry rejected", async () => {
  agent("urgent", `${hub}\nwhere = { "issue.state" = "open", "issue.labels.0.name" = "urgent" }`);
  agent("bugs", `${hub}\nwhere = { "issue.labels.0.name" = "bug" }`);
  const { stdout } = await cli.al(["webhook", "test", payload, "--event", "issues"]);
  expect(stdout).toMatch(/^bugs +yes$/m);
  expect(stdout).toMatch(/^urgent +no +where issue\.labels\.0\.name is "bug", not "urgent"$/m);
});

test("al webhook test knows agents that were disabled by hand", async () => {
  agent("dev", hub);
  const store = openStore(cli.projectDir);
  await store.settings.setDisabled("dev", true);
  store.close();
  const { stdout } = await cli.al(["webhook", "test", payload, "-e", "issues"]);
  expect(stdout).toMatch(/^dev +no +disabled: al resume dev enables it$/m);
});

test("al webhook test --json prints the event as agents see it and every verdict", async () => {
  agent("dev", `${hub}\nauthor = "nobody"`);
  expect(await cli.json(["webhook", "test", payload, "-e", "issues"])).toMatchObject({
    source: "hub",
    type: "github",
    ping: false,
    event: { event: "issues", action: "opened", number: 1, labels: ["bug"], body: /./ },
    agents: [{ agent: "dev", starts: false, why: ["author is nobody, the event's is Codertocat"] }],
  });
});

test("a ping starts nothing, and a source without listeners is reported", async () => {
  const ping = await cli.al(["webhook", "test", payload, "-e", "ping"]);
  expect(ping).toMatchObject({ code: 0, stdout: expect.stringContaining("ping") as string });
  const alone = await cli.al(["webhook", "test", payload, "-e", "issues"]);
  expect(alone.stderr).toBe("no agent listens to source hub\n");
});

test.each([
  [[], 2, "does not say which event it is", "--event"],
  [["-e", "issues", "-s", "hup"], 1, 'no webhook source "hup"', 'did you mean "hub"?'],
])("al webhook test with %j names the missing argument", async (args, code, message, hint) => {
  const ran = await cli.al(["webhook", "test", payload, ...args]);
  expect(ran.code).toBe(code);
  expect(ran.stderr).toContain(message);
  expect(ran.stderr).toContain(hint);
});

test("a file that is missing or not a payload is an error, in --json too", async () => {
  const missing = await cli.al(["webhook", "test", "nowhere.json", "-e", "issues"]);
  expect(missing).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nowhere.json") as string,
  });
  cli.write("payload.json", "not json");
  expect(await cli.json(["webhook", "test", payload, "-e", "issues"])).toMatchObject({
    error: { code: "unreadable_fixture" },
  });
});

test("several sources require a choice, and without any the error names how to add one", async () => {
  cli.write("config.toml", '[webhooks.a]\ntype = "github"\n[webhooks.b]\ntype = "linear"\n');
  const several = await cli.al(["webhook", "test", payload]);
  expect(several).toMatchObject({ code: 2, stderr: expect.stringContaining("a, b") as string });
  cli.write("config.toml", "");
  const none = await cli.al(["webhook", "test", payload]);
  expect(none.stderr).toContain("[webhooks.github]");
});

describe("al webhook send", () => {
  let server: Server;
  let got: {
    readonly path: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: Buffer;
  }[];
  let answer: { status: number; body: unknown };
  let url: string;

  beforeEach(async () => {
    got = [];
    answer = { status: 200, body: { receiptId: "r1", matched: [{ agent: "dev" }] } };
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { url: path = "", headers } = request;
        got.push({ path, headers, body: Buffer.concat(chunks) });
        response.writeHead(answer.status).end(JSON.stringify(answer.body));
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterEach(() => new Promise((done) => server.close(done)));

  const send = (...args: string[]) => cli.al(["webhook", "send", payload, "--url", url, ...args]);

  test("posts the file's bytes, signed with the stored secret as the provider signs", async () => {
    secret("github_webhook_secret", "hush\n");
    const { code, stdout, stderr } = await send("-e", "issues", "--delivery", "d1");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("200 from");
    expect(stdout).toContain("receipt r1: work for dev");
    expect(`${stdout}${stderr}`).not.toContain("hush");
    const [delivery] = got;
    expect(delivery?.path).toBe("/webhooks/github/hub");
    expect(delivery?.body).toEqual(bytes(githubExample("issues", "opened")));
    expect(delivery?.headers).toMatchObject({
      "x-github-event": "issues",
      "x-github-delivery": "d1",
    });
    const verdict = delivery && providerTable.get("github")?.verify(delivery, "hush", Date.now());
    expect(verdict).toEqual({ ok: true });
  });

  test("a payload with its own time gets the present one", async () => {
    cli.write("config.toml", '[webhooks.tracker]\ntype = "linear"\ncredential = "default"\n');
    cli.write("payload.json", JSON.stringify(linearIssue));
    secret("linear_webhook_secret", "hush");
    expect(await send()).toMatchObject({ code: 0 });
    const [delivery] = got;
    const verdict = delivery && providerTable.get("linear")?.verify(delivery, "hush", Date.now());
    expect(verdict).toEqual({ ok: true });
  });

  test("a source that accepts unsigned deliveries gets one, without a credential", async () => {
    cli.write("config.toml", '[webhooks.open]\ntype = "github"\nallowUnsigned = true\n');
    expect(await send("-e", "issues")).toMatchObject({ code: 0 });
    expect(got[0]?.headers).not.toHaveProperty("x-hub-signature-256");
    expect(got[0]?.headers["x-github-event"]).toBe("issues");
  });

  test("a duplicate and a rejection are reported as such", async () => {
    secret("github_webhook_secret", "hush");
    answer.body = { receiptId: "r1", duplicate: true };
    expect((await send("-e", "issues")).stdout).toContain("a duplicate of an earlier delivery");
    answer = { status: 401, body: { error: "bad_signature", detail: "No valid signature." } };
    const refused = await send("-e", "issues", "--json");
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { code: "bad_signature", message: expect.stringContaining("answered 401") as string },
    });
  });

  test("a missing secret, gateway or scheduler is an error with a hint", async () => {
    const unsigned = await send("-e", "issues");
    expect(unsigned.stderr).toMatch(
      /github_webhook_secret is missing[^]*hint: al creds add github_webhook_secret/,
    );
    expect(got).toEqual([]);
    secret("github_webhook_secret", "hush");
    const gone = await cli.al([
      "webhook",
      "send",
      payload,
      "-e",
      "issues",
      "--url",
      "http://127.0.0.1:1",
    ]);
    expect(gone.stderr).toMatch(/does not answer[^]*hint:/);
    const stopped = await cli.al(["webhook", "send", payload, "-e", "issues"]);
    expect(stopped.stderr).toContain("al start starts one");
    const nonsense = await cli.al(["webhook", "send", payload, "-e", "x", "--url", "localhost"]);
    expect(nonsense).toMatchObject({ code: 2 });
  });
});

test("al webhook without a subcommand shows help and is a usage error", async () => {
  const { code, stdout, stderr } = await cli.al(["webhook"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("Usage: al webhook");
  expect(stderr).not.toContain("error:");
  expect(await cli.al(["webhook", "tset"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "test"?') as string,
  });
});
