import { environment, inBackground, installedPackage } from "../helpers/installed-package.ts"; // first: it decides what the helpers start
import { execFile } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { userInfo } from "node:os";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { alertCredentialTypes } from "../../src/foundation/config/fields.ts";
import { installedProgram } from "../../src/runtime/runners/container/image/program.ts";
import { defaultImageTag } from "../../src/runtime/runners/container/image/default-image.ts";
import { defaultImage } from "../../src/runtime/runners/container/image/engine-images.ts";
import { alertTargetTypes, type AlertTargetType } from "../../streams/alert-options.ts";
import { fakeApis } from "../features/alerts/fake-apis.ts";
import { mailLogin, startMailServer } from "../features/alerts/mail-server.ts";
import { startReceiver } from "../features/alerts/receiver.ts";
import { certificateAuthority } from "../helpers/certificate-authority.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { removeAll } from "../helpers/container-project.ts";
import { engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { freePort } from "../helpers/free-port.ts";
import { forAll, LiveProject } from "../helpers/live-project.ts";
import { runAl } from "../helpers/scheduler.ts";
import { whyNoTerminal } from "../interfaces/cli/terminal.ts";
import { emulate } from "../interfaces/cli/tui/emulator.ts";
import { untilLeftClean } from "../interfaces/cli/tui/live-project.ts";
import { writeKubeconfig } from "../runtime/cluster/kubernetes/kubeconfig.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const { folder, prefix } = installedPackage;
const packages = join(prefix, "lib/node_modules");
const programDir = join(packages, "almanac");
const { engine, missing: noEngine } = await testEngine();
const noNetwork = whyNoNetwork();
const noTerminal = whyNoTerminal();
for (const why of [noNetwork, noTerminal]) {
  if (why !== null) process.stderr.write(`skipped: a part of the installed package (${why})\n`);
}
afterAll(() => installedPackage.remove());

test("the package installs alone within 60 MB and without npm warnings", async () => {
  expect(installedPackage.output).toMatch(/^\n?added 1 package in \w+\n$/);
  expect(await readdir(packages)).toEqual(["almanac"]);
  const files = await filesBelow(prefix);
  const bytes = [...files.values()].reduce((sum, content) => sum + content.length, 0);
  expect(bytes).toBeLessThan(60_000_000);
});

test("the package contains the program, its documents, the folder for Kubernetes and one picture, nothing else", () => {
  const expected =
    /^(dist\/(src\/.+\.(m?js|css|wasm)|licenses\.txt|sbom\.cdx\.json)|.+\.md|examples\/(gallery\/edit-and-run\.png|kubernetes\/.+)|LICENSE|package\.json)$/;
  expect(installedPackage.files.filter((path) => !expected.test(path))).toEqual([]);
  for (const path of ["README.md", "examples/kubernetes/kustomization.yaml"])
    expect(installedPackage.files).toContain(path);
});

test("the package names the packages inside of it, with their licenses", () => {
  const text = (file: string): string => readFileSync(join(programDir, "dist", file), "utf8");
  const { components } = JSON.parse(text("sbom.cdx.json")) as {
    components: { name: string; version: string; purl: string; hashes?: object[] }[];
  };
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["rxjs", "fastify", "dockerode", "photon-node"]));
  expect(names).not.toEqual(expect.arrayContaining(["vitest"]));
  expect(names.filter((name) => /^(ssh2|cpu-features|grpc-js)$/.test(name))).toEqual([]);
  expect(components.filter(({ hashes }) => hashes === undefined)).toEqual([]);
  const licenses = text("licenses.txt");
  for (const { purl } of components)
    expect(licenses).toContain(decodeURIComponent(purl.replace("pkg:npm/", "")));
});

/** What a run returns: its user, and its network interfaces. */
const look = `al-return "$(id -un) $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n')"`;
const script = `[[turns]]\n[[turns.tools]]\nname = "bash"\narguments = { command = ${JSON.stringify(look)} }\n[[turns]]\ntext = "Done."\n`;
const agents = {
  boxed: '[runtime]\ntype = "container"\n',
  closed: `${ownUser}[local]\nnetwork = "none"\n`,
};

function configOf(door: string): string {
  const target = (type: AlertTargetType): string =>
    `[alerts.${type}]\ntype = "${type}"\n${type === "email" ? 'to = ["ops@example.com"]\n' : ""}`;
  return `[models.m]
provider = "scripted"
script = "m.script.toml"
[local]
base = "${testBase}"
[cluster]
engine = "kubernetes"
address = "${door}"
listen = "${door}"
image = "given:1"
${alertTargetTypes.map(target).join("")}`;
}

describe("the installed program", () => {
  const authority = certificateAuthority();
  let project: LiveProject;

  forAll(async () => {
    project = await LiveProject.of({
      "project/config.toml": configOf(`127.0.0.1:${await freePort()}`),
      "project/m.script.toml": script,
      "authority.pem": authority.cert,
    });
    for (const [name, config] of Object.entries(agents)) {
      const begin = 'models = ["m"]\ncredentials = []\ncallable = true\n';
      await project.write(`agents/${name}/config.toml`, begin + config);
      await project.write(`agents/${name}/SKILL.md`, "Look around.\n");
    }
    const NODE_EXTRA_CA_CERTS = project.path("../authority.pem");
    await project.start({ env: { NODE_EXTRA_CA_CERTS } });
  });
  afterAll(async () => {
    authority.remove();
    if (noEngine === null) await removeImages(project.dir);
  });

  async function runOf(agent: keyof typeof agents): Promise<unknown> {
    return JSON.parse(await project.print("run", agent, "--json"));
  }

  test("serves the whole dashboard", async () => {
    const login = await project.post("/login", { key: project.scheduler.apiKey });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const pages = ["", "/agents/closed", "/triggers", "/cost", "/alerts", "/search"];
    for (const path of [...pages.map((page) => `/dashboard${page}`), "/openapi.json"]) {
      const response = await fetch(project.scheduler.url + path, { headers: { cookie } });
      expect([path, response.status]).toEqual([path, 200]);
    }
  });

  test("sends alerts to every type of target", async () => {
    const mail = await startMailServer(authority.issue("localhost"));
    onTestFinished(() => mail.close());
    const port = String(mail.port);
    const smtp = { host: "localhost", port, ...mailLogin, from: "almanac@example.com" };
    for (const type of alertTargetTypes) {
      const api = type === "email" ? null : fakeApis[type];
      const fields = api?.fields((await startReceiver(api.answer)).base) ?? smtp;
      for (const [field, value] of Object.entries(fields))
        await project.store(`${alertCredentialTypes[type]}/default/${field}`, value);
      expect(await project.al("alerts", "test", type)).toMatchObject({ code: 0, stderr: "" });
    }
    expect(mail.mails).toHaveLength(1);
  });

  test("al add makes an agent from a repository", async () => {
    const repository = project.path("../skills");
    await project.write(
      "../skills/SKILL.md",
      "---\nname: triage\ndescription: Sorts\n---\nSort.\n",
    );
    const git = ["-C", repository, "-c", "user.name=T", "-c", "user.email=t@example.org"];
    await run("git", ["init", "--quiet", repository]);
    await run("git", [...git, "add", "."]);
    await run("git", [...git, "commit", "--quiet", "--message", "begin"]);
    await project.print("add", pathToFileURL(repository).href, "--name", "triage", "--yes");
    expect(await project.read("agents/triage/SKILL.md")).toContain("Sort.");
  });

  test.skipIf(noNetwork !== null)("runs an agent as its user in a closed network", async () => {
    const value = `${userInfo().username} lo`;
    expect(await runOf("closed")).toMatchObject({ outcome: "succeeded", value });
  });

  test.skipIf(noEngine !== null)(
    "builds the image of containers and runs an agent in one",
    async () =>
      expect(await runOf("boxed")).toMatchObject({ outcome: "succeeded", value: "al lo" }),
    engineSetupMs,
  );

  test("has the client of Kubernetes", async () => {
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

test("a newcomer with the package follows the README's first page to the letter", async () => {
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
  "a newcomer with the package watches the agents in a terminal",
  async () => {
    await run("al", ["new", "watched"], { cwd: folder, env });
    const dir = join(folder, "watched");
    const view = emulate(["start", "--port", "0", "-p", dir], { env });
    await view.until(/> hello +(idle|running)/);
    view.signal("SIGTERM");
    await untilLeftClean(view, 0);
  },
);

/** The system's own Node, when it is an old one. */
const systemNode = "/usr/bin/node";
const hasOldNode = await run(systemNode, ["--version"]).then(
  ({ stdout }) => Number(stdout.slice(1).split(".")[0]) < 24,
  () => false,
);
/** A clone that was set up by an old Node has it. */
const bundledNode = join(root, "node_modules/node");
const canBeOld = hasOldNode && existsSync(bundledNode);
if (!canBeOld) process.stderr.write("skipped: the package on an old Node, which is not here\n");

test.skipIf(!canBeOld)("on an old Node says what to install, and then works", async () => {
  const env = environment(dirname(systemNode));
  const refused = run("al", ["--version"], { env });
  await expect(refused).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error: al needs Node 24 .*npm install --global node@24\n$/,
    ) as string,
  });
  symlinkSync(bundledNode, join(packages, "node"));
  const { stdout } = await run("al", ["--version"], { env });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
