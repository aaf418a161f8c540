import { containersOfProject, removeAll } from "../helpers/container-project.ts";
import { testCertificate } from "../helpers/certificate.ts";
import { defaultTestImage, engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { forwardProxy, proxyPassword, type ForwardProxy } from "../helpers/forward-proxy.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { tempUser, whyNoOsUsers } from "../helpers/os-users.ts";
import { fakeProvider, type FakeProvider } from "../runtime/harness/fake-provider.ts";

const { engine, missing } = await testEngine();
const noUsers = whyNoOsUsers();

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

let project: LiveProject;
let provider: FakeProvider;
let proxy: ForwardProxy;
/** The engine's description of the run's container, as it was while the model was asked. */
let inspected: string;

beforeEach(async () => {
  inspected = "";
  provider = await fakeProvider((_request, response) => {
    void inspectAll().then((text) => {
      inspected = text;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const choices = [
        { index: 0, delta: { role: "assistant", content: "Hi." }, finish_reason: "stop" },
      ];
      response.end(`data: ${JSON.stringify({ id: "x", choices })}\n\ndata: [DONE]\n\n`);
    });
  });
  proxy = await forwardProxy(Number(new URL(provider.baseUrl).port));
});
afterEach(async () => {
  if (missing === null) await removeAll(engine, project.dir);
  await Promise.all([provider.close(), proxy.close()]);
});

async function inspectAll(): Promise<string> {
  if (missing !== null) return "";
  const ids = await containersOfProject(engine, project.dir);
  const all = ids.map((id) => engine.calls().getContainer(id).inspect());
  return JSON.stringify(await Promise.all(all));
}

/** Runs an agent with this runtime to its end. */
async function run(runtime: string) {
  project = await LiveProject.of({
    "project/config.toml": config,
    "project/agents/asker/config.toml": agentConfig(runtime),
    "project/agents/asker/SKILL.md": "---\nname: asker\ndescription: Asks.\n---\nAsk.\n",
    // As for this scheduler's user alone.
    "ca.pem": testCertificate.cert,
  });
  const certificates = project.path("../ca.pem");
  const variables = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificates };
  await project.start({ webUi: false, env: variables });
  return project.al("run", "asker");
}

const asked = `CONNECT models.example.test:443 user:${proxyPassword.plain}`;

test(
  "a scheduler behind a proxy that opens TLS sends the model calls of runs of its own user through it",
  { timeout: 60_000 },
  async () => {
    const { code, stdout, stderr } = await run('type = "host-user"\nrun_as = "$USER"');
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(proxy.seen).toContain(asked);
  },
);

test.skipIf(noUsers !== null)(
  "a scheduler behind a proxy that opens TLS sends those of another OS user's runs through it, though sudo clears their environment",
  { timeout: 60_000 },
  async () => {
    const user = await tempUser();
    try {
      const { code, stdout, stderr } = await run(`type = "host-user"\nrun_as = "${user.name}"`);
      expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
      expect(proxy.seen).toContain(asked);
    } finally {
      await user.remove();
    }
  },
);

test.skipIf(missing !== null)(
  "a scheduler behind a proxy that opens TLS sends those of containers through it, and shows the engine no password",
  { timeout: engineSetupMs },
  async () => {
    await defaultTestImage(engine);
    const { code, stdout, stderr } = await run('type = "container"');
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(proxy.seen).toContain(asked);
    expect(inspected).toContain("AL_INSTANCE=asker-");
    expect(inspected).not.toMatch(/proxy-pass|proxy%2Dpass|PRIVATE KEY|BEGIN CERTIFICATE/);
  },
);
