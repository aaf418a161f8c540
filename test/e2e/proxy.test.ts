import { testCertificate } from "../helpers/certificate.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { forwardProxy, proxyPassword } from "../helpers/forward-proxy.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { fakeProvider, saying } from "../runtime/harness/fake-provider.ts";

test("a scheduler behind a proxy that decrypts TLS sends model calls through it, and gives runs its variables and certificates", async () => {
  const provider = await fakeProvider(saying("Hi."));
  const proxy = await forwardProxy(Number(new URL(provider.baseUrl).port));
  onTestFinished(() => Promise.all([provider.close(), proxy.close()]).then(() => undefined));
  const project = await LiveProject.of({
    "project/config.toml": `[models.m]
provider = "custom"
model = "m-1"
authType = "none"
baseUrl = "https://models.example.test/v1"
`,
    "project/agents/asker/config.toml": `models = ["m"]
credentials = []
callable = true
[hooks]
pre = ['test -n "$HTTPS_PROXY" && test -s "$NODE_EXTRA_CA_CERTS"']
${ownUser}[local]
network = "host"
`,
    "project/agents/asker/SKILL.md": "Ask.\n",
    "ca.pem": testCertificate.cert,
  });
  const env = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: project.path("../ca.pem") };
  await project.start({ webUi: false, env });
  await project.print("run", "asker");
  expect(proxy.seen).toContain(`CONNECT models.example.test:443 user:${proxyPassword.plain}`);
});
