import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { makeCertificate } from "../helpers/git-https-server.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { runAl } from "../helpers/scheduler.ts";
import { withOutside } from "../helpers/outside.ts";
import { fakeProvider, saying } from "../runtime/harness/fake-provider.ts";
import { standIn } from "../runtime/harness/llm-cli/stand-in.ts";
import { claudeStream, codexStream } from "../runtime/harness/llm-cli/streams.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";
import { tempDir } from "../helpers/temp-dir.ts";

vi.setConfig({ testTimeout: 120_000 });
const noNetwork = whyNoNetwork();

/** A service of the internet at this machine, and a scheduler that finds it by its name. */
async function startOutside(project: LiveProject, name: string, ...replies: object[]) {
  const seen: { url: string; login: string; body: string }[] = [];
  const folder = tempDir();
  const server = createServer(makeCertificate(folder, `DNS:${name}`), (message, response) => {
    let body = "";
    message.setEncoding("utf8").on("data", (text: string) => (body += text));
    message.on("end", () => {
      const { authorization: login = "" } = message.headers;
      seen.push({ url: message.url ?? "", login, body });
      response.end(JSON.stringify(replies.shift()));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const outside = withOutside({
    addresses: { [name]: "203.0.113.10" },
    ports: { "203.0.113.10": (server.address() as AddressInfo).port },
  });
  await project.start({ env: { ...outside, NODE_EXTRA_CA_CERTS: join(folder, "cert.pem") } });
  return seen;
}

describe.skipIf(noNetwork !== null)("an example that uses a service", () => {
  test("examples/github-token calls GitHub with the token, which its run does not have", async () => {
    const project = await LiveProject.copy("examples/github-token");
    await project.store("github_token/default/token", "ghp-of-the-example");
    const seen = await startOutside(project, "api.github.com", { login: "octocat" });
    const printed = await project.print("run", "reporter");
    expect(seen).toMatchObject([{ url: "/user", login: "Bearer ghp-of-the-example" }]);
    expect(printed).toContain('"login":"octocat"');
    expect(printed).not.toContain("ghp-of-the-example");
  });

  test("examples/slack posts to the channel, and shows why Slack rejects a post", async () => {
    const project = await LiveProject.copy("examples/slack");
    await project.store("slack_bot_token/default/token", "xoxb-of-the-example");
    const replies = [
      { ok: true, channel: "C1" },
      { ok: false, error: "channel_not_found" },
    ];
    const seen = await startOutside(project, "slack.com", ...replies);
    const printed = await project.print("run", "standup");
    expect(printed).toContain('"ok":true');
    expect(seen).toMatchObject([
      { url: "/api/chat.postMessage", login: "Bearer xoxb-of-the-example" },
    ]);
    const posted = new URLSearchParams(seen[0]?.body);
    expect(posted.get("channel")).toBe("#standup");
    expect(posted.get("text")).toMatch(/^Two pull requests merged/);
    expect(await project.print("run", "standup")).toContain("channel_not_found");
  });
});

test("examples/local-model calls a server on this machine without a key", async () => {
  const server = await fakeProvider(saying("It is noon."));
  onTestFinished(() => server.close());
  const project = await LiveProject.copy("examples/local-model");
  await project.edit("config.toml", "http://localhost:11434/v1", server.baseUrl);
  await project.start();
  expect(await project.print("run", "helper")).toContain("It is noon.");
  const [request] = server.requests;
  expect(request).toMatchObject({ path: "/v1/chat/completions", authorization: "" });
  expect(request?.body.model).toBe("qwen3:8b");
});

test("al new --provider local writes the first model that the server lists, and the project runs with it", async () => {
  const server = await fakeProvider((request, response) => {
    if (request.path !== "/v1/models") return saying("Hello from here.")(request, response);
    response.end(JSON.stringify({ object: "list", data: [{ id: "gemma" }, { id: "qwen" }] }));
  });
  onTestFinished(() => server.close());
  const project = await LiveProject.of({ "made/.keep": "" });
  const made = join(project.dir, "../made");
  const options = ["--provider", "local", "--base-url", server.baseUrl];
  const { code, stderr } = await project.al("new", made, ...options);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).not.toContain("creds add");
  const config = await readFile(join(made, "config.toml"), "utf8");
  const lines = ['provider = "custom"', 'model = "gemma"', `baseUrl = "${server.baseUrl}"`];
  for (const line of [...lines, 'authType = "none"']) expect(config).toContain(line);
  const { code: ranTo, stdout } = await runAl(
    { dir: made, home: project.home, remove: async () => {} },
    ["run", "hello"],
  );
  expect({ ranTo, stdout }).toMatchObject({ ranTo: 0 });
  expect(stdout).toContain("Hello from here.");
});

test("al new --provider local asks for the model's name if no server answers, and then works", async () => {
  const project = await LiveProject.of({ "made/.keep": "" });
  const made = join(project.dir, "../made");
  const options = ["--provider", "local", "--base-url", "http://127.0.0.1:1/v1"];
  const unnamed = await project.al("new", made, ...options);
  expect(unnamed).toMatchObject({ code: 2 });
  expect(unnamed.stderr).toContain("--model is missing");
  expect(await project.al("new", made, ...options, "--model", "qwen3:8b")).toMatchObject({
    code: 0,
  });
});

test.each([
  ["claude", "anthropic_key", claudeStream],
  ["codex", "openai_key", codexStream],
] as const)("examples/llm-cli runs its work with %s", async (program, key, stream) => {
  const project = await LiveProject.copy("examples/llm-cli");
  await project.store(`${key}/default/key`, "sk-of-the-example");
  const cli = await standIn(project.dir, program, { stream });
  await project.start({ env: { PATH: cli.path } });
  expect(await project.print("run", `with-${program}`)).toContain("Looking.");
  expect(JSON.stringify(await cli.env())).not.toContain("sk-of-the-example");
});
