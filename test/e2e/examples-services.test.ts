import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { makeCertificate } from "../helpers/git-https-server.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";
import { withOutside } from "../helpers/outside.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";

vi.setConfig({ testTimeout: 120_000 });
const noNetwork = whyNoNetwork();
noteSkipped("examples that use services", noNetwork);

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
  test("examples/github-token calls GitHub with a token that the run itself does not have", async () => {
    const project = await LiveProject.copy("examples/github-token");
    await project.store("github_token", { token: "ghp-of-the-example" });
    const seen = await startOutside(project, "api.github.com", { login: "octocat" });
    const printed = await project.print("run", "reporter");
    expect(seen).toMatchObject([{ url: "/user", login: "Bearer ghp-of-the-example" }]);
    expect(printed).toContain('"login":"octocat"');
    expect(printed).not.toContain("ghp-of-the-example");
  });

  test("examples/pr-review reads a diff and posts a review with a token that the run itself does not have", async () => {
    const project = await LiveProject.copy("examples/pr-review");
    await project.store("github_token", { token: "ghp-of-the-example" });
    await project.store("github_webhook_secret", { secret: "secret-of-the-example" });
    const seen = await startOutside(project, "api.github.com", { diff: "…" }, { id: 80 });
    const file = join(import.meta.dirname, "../../examples/pull-request/pull-request-opened.json");
    await project.print("webhook", "send", file, "-e", "pull_request");
    const latest = () => project.latest("reviewer", "webhook");
    await expect.poll(latest, slowly).toMatchObject({ value: "commented" });
    const [url, login] = ["/repos/Codertocat/Hello-World/pulls/2", "Bearer ghp-of-the-example"];
    const posted = { url: `${url}/reviews`, login };
    expect(seen).toMatchObject([{ url, login }, posted]);
    expect(seen[1]?.body).toContain('"event": "COMMENT"');
  });

  test("examples/slack posts to the channel, and shows why Slack rejects a post", async () => {
    const project = await LiveProject.copy("examples/slack");
    await project.store("slack_bot_token", { token: "xoxb-of-the-example" });
    const replies = [{ ok: true }, { ok: false, error: "channel_not_found" }];
    const seen = await startOutside(project, "slack.com", ...replies);
    expect(await project.print("run", "standup")).toContain('"ok":true');
    const url = "/api/chat.postMessage";
    const post = /^channel=%23standup&text=Two\+pull\+requests\+merged/;
    const body = expect.stringMatching(post) as string;
    expect(seen).toEqual([{ url, login: "Bearer xoxb-of-the-example", body }]);
    expect(await project.print("run", "standup")).toContain("channel_not_found");
  });
});
