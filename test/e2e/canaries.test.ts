import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { removeAll, watchContainers } from "../helpers/container-project.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { defaultTestImage, engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { pause } from "../helpers/pause.ts";

/** Secrets that appear nowhere else; each is a word of its own. */
const canaries = {
  token: "canary-github-9f2c71d0b4",
  password: `canary "pass" \\word\\ äöü-5be1`,
  keyLine: "canarykeylineAAAAB3NzaC1yc2EAAAADAQABAAABgQ",
  aws: "canaryAws/Secret+Key=1c97e2",
  model: "canary-model-key-77aa01",
};
const privateKey = `-----BEGIN OPENSSH PRIVATE KEY-----\n${canaries.keyLine}\n-----END OPENSSH PRIVATE KEY-----`;

/** A secret and how it looks in JSON, a URL and base64. */
const shapes = Object.values(canaries).flatMap((value) => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value),
  Buffer.from(value).toString("base64").replace(/=+$/, ""),
]);
/** Colours are taken out by who shows them. */
const found = (text: string) => {
  const plain = text.replaceAll(/(?:\\u001b|\u001b)\[0m/g, "");
  return shapes.filter((shape) => plain.includes(shape));
};

/** As TOML writes it otherwise: the text of a script is kept with the runs that played it. */
const escaped = (value: string) =>
  `\\u${value.charCodeAt(0).toString(16).padStart(4, "0")}${value.slice(1)}`;

const files = {
  "project/config.toml": `[models.scripted]
provider = "scripted"
script = "leak.script.toml"
[models.claude]
provider = "anthropic"
model = "claude-sonnet-4-5"
[local]
base = "${testBase}"
network = "none"
`,
  "project/leak.script.toml": `[[turns]]
text = "I was told ${escaped(canaries.aws)}."
[[turns.tools]]
name = "bash"
arguments = { command = "env; echo tool-ran; echo -n \\"$MY_DB_PASSWORD\\" | base64 -w0; cat .credentials/*/*" }
[[turns.tools]]
name = "al_status"
arguments = { text = "working with ${escaped(canaries.aws)}" }
[[turns]]
text = "Done."
`,
  "project/agents/leaky/SKILL.md":
    "---\nname: leaky\n---\nToken: !`echo $GITHUB_TOKEN; echo $GITHUB_TOKEN >&2; exit 3`\n",
  "project/agents/leaky/config.toml": `models = ["scripted", "claude"]
credentials = ["github_token", "my_db", "git_ssh", "aws"]
schedule = "0 0 1 1 *"
[hooks]
pre = ["echo hook-ran $GITHUB_TOKEN $AWS_SECRET_ACCESS_KEY; echo $GITHUB_TOKEN >&2; sleep 1"]
post = ["echo last words $AWS_SECRET_ACCESS_KEY | sed 's/Secret/Sec\\\\x1b[0mret/'; cat .credentials/*/*; exit 3"]
`,
  "home/credentials/github_token/default/token": canaries.token,
  "home/credentials/my_db/default/password": canaries.password,
  "home/credentials/git_ssh/default/private_key": privateKey,
  "home/credentials/aws/default/access_key_id": "AKIAIOSFODNN7EXAMPLE",
  "home/credentials/aws/default/secret_access_key": canaries.aws,
  "home/credentials/anthropic_key/default/key": canaries.model,
};

const { engine, missing } = await testEngine();

let project: LiveProject;

/** Starts a scheduler on the project, whose agent runs as `runtime` says. */
async function start(runtime: string): Promise<void> {
  project = await LiveProject.of(files);
  await project.append("agents/leaky/config.toml", runtime);
  await project.start();
}

/** Reads a stream of the gateway until the scheduler stops; gives what came so far. */
function listen(path: string): () => string {
  let text = "";
  const read = async () => {
    const { body } = await project.scheduler.api(path);
    for await (const chunk of body ?? []) text += Buffer.from(chunk).toString("utf8");
  };
  // A stop in the middle is how it ends.
  void read().catch(() => undefined);
  return () => text;
}

/** Notes the command line of every process until it is told to stop. */
function watchCommandLines(): () => Promise<string> {
  const seen = new Set<string>();
  let on = true;
  const look = async () => {
    while (on) {
      for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name)))
        seen.add(await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""));
      await pause(20, "processes are looked at all the time");
    }
  };
  const looking = look();
  return async () => {
    on = false;
    await looking;
    return [...seen].join("\n");
  };
}

/** Name and text of a place. */
type Place = readonly [string, string];

const leaks = (places: readonly Place[]) =>
  places.flatMap(([place, text]) => found(text).map((what) => ({ place, what })));

/** Runs the agent, sees that it said its credentials, and gathers all places where they might be. */
async function leak() {
  const streams = ["/dashboard/api/status-stream", "/dashboard/api/logs/leaky/stream"].map(listen);
  const stopWatching = watchCommandLines();
  const { code, stdout, stderr } = await project.al("run", "leaky");
  const commandLines = await stopWatching();
  expect(code).toBe(1);
  const [trigger] = await project.history();
  const pages = ["/control/status", "/api/stats/triggers"].map(async (path): Promise<Place> => [
    path,
    await (await project.scheduler.api(path)).text(),
  ]);
  const log = await project.print("logs", "leaky", "-n", "1000");
  await expect.poll(() => streams[1]?.()).toContain("last words");

  // That it said them at all, and where they would have been.
  for (const text of ["hook-ran [redacted] [redacted]", "I was told [redacted].", "tool-ran"])
    expect(log).toContain(text);
  const reason = expect.stringContaining("[redacted] (post hook, exit 3)") as string;
  expect(trigger).toMatchObject({ outcome: "failed", reason });
  expect(streams[0]?.()).toContain("working with [redacted]");
  const files = [...(await filesBelow(project.path(".al"), "utf8"))];
  expect(files.some(([path]) => path.endsWith(".log"))).toBe(true);
  const places: readonly Place[] = [
    ...files,
    ["command lines", commandLines],
    ["al run", stdout + stderr],
    ["al logs", log],
    ["scheduler", project.scheduler.output()],
    ...streams.map((text, index) => [`stream ${index}`, text()] as const),
    ...(await Promise.all(pages)),
  ];
  return { places, instanceId: trigger?.instanceId ?? "", commandLines };
}

test("credentials that an agent prints wherever it can, also in errors, appear nowhere", async () => {
  await start('[runtime]\ntype = "host-user"\nrun_as = "$USER"\n');
  const { places, instanceId, commandLines } = await leak();
  expect(commandLines).toContain("_run-agent");
  const runDir = `/tmp/al-runs/${instanceId}`;
  expect(existsSync(runDir)).toBe(false);
  const own = [`${runDir}.log`, await readFile(`${runDir}.log`, "utf8")] as const;
  expect(leaks([...places, own])).toEqual([]);
});

test.skipIf(missing !== null)(
  "credentials that an agent in a container prints do not appear at the container engine",
  async () => {
    await defaultTestImage(engine);
    await start('[runtime]\ntype = "container"\n');
    onTestFinished(() => removeAll(engine, project.dir));
    const containers = watchContainers(engine, project.dir);
    const { places } = await leak();
    await containers.stop();
    const [container = ""] = containers.seen.values();
    // The engine was asked while the container was there, and kept what the run said.
    expect(container).toContain('"_run-agent"');
    expect(container).toContain("hook-ran [redacted]");
    expect(leaks([...places, ...containers.seen])).toEqual([]);
  },
  engineSetupMs,
);
