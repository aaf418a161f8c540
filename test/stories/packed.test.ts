import { environment, inBackground, installedPackage } from "../helpers/installed-package.ts"; // first: it decides what the helpers start
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { userInfo } from "node:os";
import { promisify } from "node:util";
import { crc32, deflateSync } from "node:zlib";
import { installedProgram } from "../../src/runtime/runners/container/image/program.ts";
import { defaultImageTag } from "../../src/runtime/runners/container/image/default-image.ts";
import { defaultImage } from "../../src/runtime/runners/container/image/engine-images.ts";
import { mailLogin, startMailServer } from "../features/alerts/mail-server.ts";
import { certificateFor } from "../helpers/git-https-server.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { removeAll } from "../helpers/container-project.ts";
import { engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { freePort } from "../helpers/free-port.ts";
import { forAll, type LiveProject } from "../helpers/live-project.ts";
import { addScripted, bash, scriptedAgents, turn } from "../helpers/scripted-agents.ts";
import { runAl } from "../helpers/scheduler.ts";
import { whyNoTerminal } from "../interfaces/cli/terminal.ts";
import { emulate } from "../interfaces/cli/tui/emulator.ts";
import { untilLeftClean } from "../interfaces/cli/tui/live-project.ts";
import { writeKubeconfig } from "../runtime/cluster/kubernetes/kubeconfig.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const { folder, prefix } = installedPackage;
const packages = join(prefix, "lib/node_modules");
const programDir = join(packages, "almanac");
const { engine, missing: noEngine } = await testEngine();
const noNetwork = whyNoNetwork();
const noTerminal = whyNoTerminal();
for (const why of [noNetwork, noTerminal]) {
  noteSkipped("a part of the installed package", why);
}
afterAll(() => installedPackage.remove());

test("the npm package installs within 60 MB and without npm warnings, and contains program, documents, files for Docker and Kubernetes, and one picture", async () => {
  expect(installedPackage.output).toMatch(/^\n?added 1 package in \w+\n$/);
  expect(await readdir(packages)).toEqual(["almanac"]);
  const files = await filesBelow(prefix);
  const bytes = [...files.values()].reduce((sum, content) => sum + content.length, 0);
  expect(bytes).toBeLessThan(60_000_000);
  const expected =
    /^(dist\/(src\/.+\.(m?js|css|wasm|txt)|licenses\.txt|sbom\.cdx\.json)|.+\.md|examples\/(gallery\/edit-and-run\.png|(kubernetes|deploy)\/.+)|LICENSE|Dockerfile|package\.json)$/;
  expect(installedPackage.files.filter((path) => !expected.test(path))).toEqual([]);
  expect(installedPackage.files).toContain("examples/kubernetes/kustomization.yaml");
});

test("the npm package lists bundled packages with their licenses", () => {
  const text = (file: string): string => readFileSync(join(programDir, "dist", file), "utf8");
  const { components } = JSON.parse(text("sbom.cdx.json")) as {
    components: readonly { name: string; purl: string; hashes?: readonly object[] }[];
  };
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["rxjs", "fastify", "dockerode", "photon-node"]));
  expect(names.filter((name) => /^(vitest|ssh2|cpu-features|grpc-js)$/.test(name))).toEqual([]);
  const licenses = text("licenses.txt");
  for (const { purl, hashes } of components) {
    expect(hashes, purl).toBeDefined();
    expect(licenses).toContain(decodeURIComponent(purl.replace("pkg:npm/", "")));
  }
});

/** A grey PNG of this many pixels a side. */
function picture(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 8; // bits; colour type 0 is grey
  const rows = deflateSync(Buffer.alloc((side + 1) * side));
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const ends = chunk("IEND", Buffer.alloc(0));
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", rows), ends]);
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, sum]);
}

/** A run returns its user and its network interfaces. */
const look = `al-return "$(id -un) $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n')"`;
const configOf = (door: string) => `[local]
base = "${testBase}"
[cluster]
engine = "kubernetes"
address = "${door}"
listen = "${door}"
image = "given:1"
[alerts.mail]
type = "email"
to = ["ops@example.com"]
`;
const agents = {
  boxed: '[runtime]\ntype = "container"\n',
  closed: `${ownUser}[local]\nnetwork = "none"\n`,
};

describe("the installed program", () => {
  const certificate = certificateFor("DNS:localhost");
  let project: LiveProject;

  forAll(async () => {
    project = await scriptedAgents({}, configOf(`127.0.0.1:${await freePort()}`));
    await project.write("authority.pem", certificate.cert);
    const large = project.path("large.png");
    await writeFile(large, picture(2500));
    const turns = turn("read", `{ path = "${large}" }`) + bash(look);
    for (const [name, config] of Object.entries(agents))
      await addScripted(project, name, { turns, config });
    const NODE_EXTRA_CA_CERTS = project.path("authority.pem");
    await project.start({ env: { NODE_EXTRA_CA_CERTS } });
  });
  afterAll(async () => void (noEngine === null && (await removeImages(project.dir))));

  const runOf = (agent: keyof typeof agents) => project.al("run", agent, "--json");

  test("serves the whole dashboard", async () => {
    const login = await project.post("/login", { key: project.scheduler.apiKey });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const pages = ["", "/agents/closed", "/triggers", "/cost", "/alerts", "/search"];
    for (const path of [...pages.map((page) => `/dashboard${page}`), "/openapi.json"]) {
      const response = await fetch(project.scheduler.url + path, { headers: { cookie } });
      expect([path, response.status]).toEqual([path, 200]);
    }
  });

  test("sends mail", async () => {
    const mail = await startMailServer(certificate);
    onTestFinished(() => mail.close());
    const from = "almanac@example.com";
    const smtp = { host: "localhost", port: String(mail.port), ...mailLogin, from };
    await project.store("smtp", smtp);
    await project.print("alerts", "test", "mail");
    expect(mail.mails).toHaveLength(1);
  });

  test.skipIf(noNetwork !== null)(
    "runs an agent in a closed network, and scales a large image down for the model",
    async () => {
      const { stdout, stderr } = await runOf("closed");
      const value = `${userInfo().username} lo`;
      expect(JSON.parse(stdout)).toMatchObject({ outcome: "succeeded", value });
      expect(stderr).toContain("original 2500x2500, displayed at 2000x2000");
    },
  );

  test.skipIf(noEngine !== null)(
    "builds the container image and runs an agent in it",
    async () => {
      const { stdout } = await runOf("boxed");
      expect(JSON.parse(stdout)).toMatchObject({ outcome: "succeeded", value: "al lo" });
    },
    engineSetupMs,
  );

  test("contains the client of Kubernetes", async () => {
    const server = `http://127.0.0.1:${await freePort()}`;
    await project.write("../kubernetes/kubeconfig", "");
    const KUBECONFIG = writeKubeconfig(project.path("../kubernetes"), server);
    const { stdout } = await runAl(project, ["doctor"], { KUBECONFIG });
    expect(stdout).toContain(`no API server of Kubernetes answers at ${server}`);
  });
});

/** The image that was made for these tests; runs of other tests have images of other contents. */
async function removeImages(projectDir: string): Promise<void> {
  await removeAll(engine, projectDir);
  const program = () => installedProgram(programDir);
  const sources = { engine, programDir, program, builtByItself: defaultImage };
  const image = engine.calls().getImage(await defaultImageTag(sources, testBase));
  await image.remove({ force: true }).catch(() => undefined);
}

/** The commands of README.md that make a project of one's own, without their comments. */
function readmeCommands(heading: string): string[] {
  const [, section = ""] = readFileSync(join(root, "README.md"), "utf8").split(`${heading}\n`);
  const [, block = ""] = /```sh\n([^`]*)```/.exec(section) ?? [];
  return block
    .trim()
    .split("\n")
    .map((line) => line.replace(/\s+#.*/, ""));
}

const env = environment(dirname(process.execPath));

test("a new user of the npm package can run all commands on the README's first page", async () => {
  const [packing, installing, ...commands] = readmeCommands("### A project of your own");
  expect([packing, installing]).toEqual(["npm pack", "npm install --global ./almanac-*.tgz"]);
  let cwd = folder;
  let output = "";
  let scheduler: Awaited<ReturnType<typeof inBackground>> | null = null;
  for (const command of commands) {
    const [, dir] = /^cd (\S+)$/.exec(command) ?? [];
    if (dir !== undefined) cwd = join(cwd, dir);
    else if (command.startsWith("al start")) scheduler = await inBackground(command, cwd, env);
    else output += (await run("/bin/sh", ["-c", command], { cwd, env })).stdout;
  }
  expect(commands).toEqual(
    expect.arrayContaining(["al new my-project", "al run hello", "al stat", "al stop"]),
  );
  expect(output).toContain("agents/hello/SKILL.md");
  expect(output).toContain("Hello from your first agent");
  expect(output).toMatch(/^hello +(idle|running)/m);
  expect(output).toContain("stopped");
  expect(await scheduler?.ended).toBe(0);
}, 90_000);

test.skipIf(noTerminal !== null)(
  "a new user of the npm package watches the agents in a terminal",
  async () => {
    await run("al", ["new", "watched"], { cwd: folder, env });
    const dir = join(folder, "watched");
    const view = emulate(["start", "--port", "0", "-p", dir], { env });
    await view.until(/> hello +(idle|running)/);
    view.signal("SIGTERM");
    await untilLeftClean(view, 0);
  },
);
