import { containersOfProject, removeAll } from "../helpers/container-project.ts";
import { testCertificate } from "../helpers/certificate.ts";
import { defaultTestImage, engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { forwardProxy, proxyPassword } from "../helpers/forward-proxy.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { tempUser, whyNoOsUsers } from "../helpers/os-users.ts";
import { fakeProvider, saying } from "../runtime/harness/fake-provider.ts";

const { engine, missing } = await testEngine();

/** The model is reached through a proxy alone, whose certificate nothing trusts by itself. */
const config = `[models.m]
provider = "custom"
model = "m-1"
authType = "none"
baseUrl = "https://models.example.test/v1"
[local]
network = "host"
base = "${testBase}"
`;
/** Runs fail where their commands lack the variables. */
const agentConfig = (runtime: string) => `models = ["m"]
credentials = []
schedule = "0 0 29 2 *"
[hooks]
pre = ['test -n "$HTTPS_PROXY" && test -s "$NODE_EXTRA_CA_CERTS"']
[runtime]
${runtime}
`;

/** Runs an agent with this runtime to its end; what the engine shows of its container while the model is asked. */
async function expectThroughProxy(runtime: string): Promise<string> {
  let inspected = "";
  const inspect = async () => {
    const ids = missing === null ? await containersOfProject(engine, project.dir) : [];
    const all = ids.map((id) => engine.calls().getContainer(id).inspect());
    inspected = JSON.stringify(await Promise.all(all));
  };
  const provider = await fakeProvider(
    (request, response) => void inspect().then(() => saying("Hi.")(request, response)),
  );
  const proxy = await forwardProxy(Number(new URL(provider.baseUrl).port));
  const project = await LiveProject.of({
    "project/config.toml": config,
    "project/agents/asker/config.toml": agentConfig(runtime),
    "project/agents/asker/SKILL.md": "Ask.\n",
    // As for this scheduler's user alone.
    "ca.pem": testCertificate.cert,
  });
  onTestFinished(async () => {
    if (missing === null) await removeAll(engine, project.dir);
    await Promise.all([provider.close(), proxy.close()]);
  });
  const variables = {
    HTTPS_PROXY: proxy.url,
    NODE_EXTRA_CA_CERTS: project.path("../ca.pem"),
  };
  await project.start({ webUi: false, env: variables });
  await project.print("run", "asker");
  expect(proxy.seen).toContain(`CONNECT models.example.test:443 user:${proxyPassword.plain}`);
  return inspected;
}

describe("a scheduler behind a proxy that decrypts TLS", () => {
  test("sends the model calls of its own user's runs through the proxy", () =>
    expectThroughProxy('type = "host-user"\nrun_as = "$USER"'));

  test.skipIf(whyNoOsUsers() !== null)(
    "sends the model calls of another OS user's runs through the proxy, even if sudo clears the environment",
    async () => {
      const user = await tempUser();
      onTestFinished(() => user.remove().then(() => undefined));
      await expectThroughProxy(`type = "host-user"\nrun_as = "${user.name}"`);
    },
  );

  test.skipIf(missing !== null)(
    "sends the model calls of containers through the proxy, and hides its password from the engine",
    async () => {
      await defaultTestImage(engine);
      const inspected = await expectThroughProxy('type = "container"');
      expect(inspected).toContain("AL_INSTANCE=asker-");
      expect(inspected).not.toMatch(/proxy-pass|proxy%2Dpass|PRIVATE KEY|BEGIN CERTIFICATE/);
    },
    engineSetupMs,
  );
});
