import { openStore } from "../../../src/features/open-store.ts";
import { createServer, type IncomingMessage } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { providerTable } from "../../../src/features/webhooks/providers/table.ts";
import { bytes, githubExample } from "../../features/webhooks/deliveries.ts";
import { perTest } from "../../helpers/per-test.ts";
import { cliProject, scriptedModel } from "./fake-operator.ts";
import { listen } from "../../helpers/listen.ts";

const cli = cliProject();
const sourceOf = (name: string, line: string) => `[webhooks.${name}]\ntype = "github"\n${line}\n`;
let payload: string;

beforeEach(() => {
  cli.write("config.toml", scriptedModel + sourceOf("hub", 'credential = "default"'));
  payload = cli.write("payload.json", JSON.stringify(githubExample("issues", "opened")));
});

/** An agent with these `[[webhooks]]` entries, each the lines after its source. */
function agent(name: string, ...entries: readonly string[]): void {
  const webhooks = entries.map((lines) => `[[webhooks]]\nsource = "hub"\n${lines}\n`).join("");
  const start = entries.length === 0 ? 'schedule = "0 9 * * *"\n' : "";
  const scale = name === "off" ? "scale = 0\n" : "";
  cli.addAgent(name, scale + start + webhooks);
}

describe("al webhook test", () => {
  test("shows which agents a payload starts, and which filters of other agents reject it", async () => {
    agent("all", "");
    agent("elsewhere", 'repos = ["acme/x"]\nactions = ["closed"]');
    agent("twice", 'events = ["push"]', 'labels = ["urgent"]');
    agent("second", 'events = ["push"]', 'labels = ["bug"]');
    agent("off", "");
    agent("hand", "");
    agent("broken", 'repo = ["a/b"]');
    agent("deaf");
    const store = openStore(cli.projectDir);
    await store.settings.setDisabled("hand", true);
    store.close();
    const { code, stdout, stderr } = await cli.al(`webhook test ${payload} --event issues`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const row of [
      /^github issues opened, Codertocat\/Hello-World #1: Spelling error/,
      /^all +yes$/m,
      /^second +yes$/m,
      /^elsewhere +no +repos does not include Codertocat\/Hello-World; actions does not include opened$/m,
      /^twice +no +1\. events does not include issues\n +2\. labels does not include bug$/m,
      /^off +no +disabled: scale = 0/m,
      /^hand +no +disabled: al resume hand enables it$/m,
      /^broken +no +agents\/broken\/config\.toml:\d+:\d+.*did you mean "repos"/m,
    ])
      expect(stdout).toMatch(row);
    expect(stdout).not.toContain("deaf");
  });

  test("shows how a payload or a stored delivery gathers", async () => {
    agent("keyed", "[debounce]\nkey = '{repository}#{number}'");
    agent("together", "[debounce]\nquiet = '10s'");
    agent("keyless", "[debounce]\nkey = '{caller}'");
    const store = openStore(cli.projectDir);
    const id = "0198c0de-7a11-7000-8000-5ec0ffee0001";
    const from = { id, at: 1, source: "hub", type: "github", deliveryId: "d", matched: [] };
    const headers = { "x-github-event": "issues" };
    const body = Buffer.from(JSON.stringify(githubExample("issues", "opened")));
    const receipt = { ...from, headers, body, reason: null };
    await store.receipts.accept({ receipt, items: [], taken: [], deadLetters: [] });
    store.close();
    for (const args of [`${payload} --event issues`, id]) {
      const { stdout } = await cli.al(`webhook test ${args}`);
      for (const row of [
        /^keyed +yes +gathers as Codertocat\/Hello-World#1 for 30 s without another of \{repository\}#\{number\}, at most 5 min$/m,
        /^together +yes +gathers for 10 s without another, at most 5 min$/m,
        /^keyless +yes +starts its own run: no value for \{caller\}$/m,
      ])
        expect(stdout).toMatch(row);
    }
  });

  test("says which source has no agent, and which type of source the project lacks", async () => {
    const alone = await cli.al(`webhook test ${payload} -e issues`);
    expect(alone.stderr).toBe("no agent listens to source hub\n");
    cli.write("config.toml", "");
    await cli.fails(`webhook test ${payload} -e issues`, /\[webhooks\.github\]/);
  });
});

interface Delivery {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** A gateway that keeps what it gets, and answers it. */
async function fakeGateway() {
  const got: Delivery[] = [];
  const gateway = { got, url: "", status: 200, answer: {}, close: () => server.close() };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url: path = "", headers } = request;
      got.push({ path, headers, body: Buffer.concat(chunks) });
      response.writeHead(gateway.status).end(JSON.stringify(gateway.answer));
    });
  });
  gateway.url = `http://127.0.0.1:${await listen(server)}/`;
  return gateway;
}

describe("al webhook send", () => {
  const gateway = perTest(fakeGateway, ({ close }) => close());
  const send = (args = "") =>
    cli.al(`webhook send ${payload} -e issues --url ${gateway().url} ${args}`);

  function storeSecret(): void {
    const dir = join(cli.home, "credentials/github_webhook_secret/default");
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, "secret"), "hush\n", { mode: 0o600 });
  }

  test("posts the file's bytes, signed like the provider with the stored secret", async () => {
    storeSecret();
    gateway().answer = { receiptId: "r1", matched: [{ agent: "dev" }] };
    const { code, stdout, stderr } = await send("--delivery d1");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/200 from[^]*receipt r1: work for dev/);
    expect(stdout).not.toContain("hush");
    const [delivery] = gateway().got;
    expect(delivery).toMatchObject({
      path: "/webhooks/github/hub",
      headers: { "x-github-event": "issues", "x-github-delivery": "d1" },
    });
    expect(delivery?.body).toEqual(bytes(githubExample("issues", "opened")));
    const verdict = delivery && providerTable.get("github")?.verify(delivery, "hush", Date.now());
    expect(verdict).toEqual({ ok: true });
  });

  test("posts without a signature to a source that accepts that, without a credential", async () => {
    cli.write("config.toml", sourceOf("open", "allowUnsigned = true"));
    expect(await send()).toMatchObject({ code: 0 });
    expect(gateway().got[0]?.headers).not.toHaveProperty("x-hub-signature-256");
  });

  test("reports a duplicate and a rejection", async () => {
    storeSecret();
    gateway().answer = { receiptId: "r1", duplicate: true };
    expect((await send()).stdout).toContain("a duplicate of an earlier delivery");
    gateway().status = 401;
    gateway().answer = { error: "bad_signature", detail: "No valid signature." };
    const refused = await send("--json");
    expect(refused.code).toBe(1);
    const { error } = JSON.parse(refused.stdout) as { error: { code: string; message: string } };
    expect(error.code).toBe("bad_signature");
    expect(error.message).toContain("answered 401");
  });

  test("without a stored secret says how to store one, and sends nothing", async () => {
    expect((await send()).stderr).toMatch(
      /github_webhook_secret is missing[^]*hint: Store it with `al creds add github_webhook_secret`/,
    );
    expect(gateway().got).toEqual([]);
  });
});
