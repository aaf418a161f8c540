import { mkdir, rm } from "node:fs/promises";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { perTest } from "../helpers/per-test.ts";

const project = perTest(() => LiveProject.hello());

/** The message with which `al start` fails. */
async function refusal(): Promise<string> {
  const { code, stdout, stderr } = await project().al("start", "--web-ui", "--port", "0");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).not.toMatch(/^ {4}at /m);
  expect(stderr.match(/^error: /gm)).toHaveLength(1);
  return stderr;
}

test("al start without a config.toml fails with one message", async () => {
  await rm(project().path("config.toml"));
  expect(await refusal()).toContain(`${project().dir} holds no config.toml`);
});

test("al start on a broken project names the line of a syntax error", async () => {
  await project().write("config.toml", '[models.scripted]\nprovider = "scripted\n');
  expect(await refusal()).toMatch(/config\.toml:2:\d+ /);
});

test("al start on a broken project names a wrong value and what is expected", async () => {
  await project().write("config.toml", '[gateway]\nport = "http"\n');
  expect(await refusal()).toMatch(/config\.toml:2:\d+ .*gateway\.port.*"http"/);
});

test("al start on a broken project names a config that is not a file", async () => {
  await rm(project().path("config.toml"));
  await mkdir(project().path("config.toml"));
  expect(await refusal()).toContain("config.toml is not a regular file");
});

test("with --json the message is a document", async () => {
  await rm(project().path("config.toml"));
  const { code, stdout, stderr } = await project().al("start", "--json");
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: expect.any(String) as string } });
});

const skill = "---\nname: Broken\n---\nBe.\n";

test("an invalid agent config affects that agent only, and the others run", async () => {
  const own = 'models = ["scripted"]\ncredentials = []\n';
  const broken = {
    modelless: ['models = ["gpt"]\ncredentials = []\nschedule = "* * * * *"\n', "gpt"],
    garbled: ["models = [\n", "TOML"],
    idle: [own, "schedule"],
    sourceless: [`${own}[[webhooks]]\nsource = "hub"\n`, "hub"],
  } as const;
  for (const [name, [config]] of Object.entries(broken)) {
    await project().write(`agents/${name}/config.toml`, config);
    await project().write(`agents/${name}/SKILL.md`, skill);
  }
  await project().start();
  const stat = await project().print("stat");
  expect(stat).toMatch(/^hello +(idle|running)/m);
  for (const [name, [, words]] of Object.entries(broken)) {
    expect(stat).toMatch(new RegExp(`^${name} +error `, "m"));
    const error = `^error ${name}: agents/${name}/config\\.toml.*${words}`;
    expect(stat).toMatch(new RegExp(error, "m"));
  }
  expect(await project().al("run", "garbled")).toMatchObject({ code: 1, stdout: "" });
});

test("a directory with only a SKILL.md causes a warning, and al config makes it an agent", async () => {
  await project().write("agents/bare/SKILL.md", skill);
  const { waitForOutput, output } = await project().start();
  await waitForOutput(/agents\/bare .*but no config\.toml; al config bare makes one/);
  expect(await project().agent("bare")).toBeUndefined();
  await project().print(
    "config",
    "bare",
    "--set",
    'models=["scripted"]',
    "--set",
    "schedule=0 9 * * *",
  );
  await expect.poll(() => project().agent("bare"), slowly).toMatchObject({ state: "idle" });
  expect(output().match(/but no config\.toml/g)).toHaveLength(1);
});
