import { callOf, commandAgents, until } from "../helpers/command-agents.ts";
import { slowly, type LiveProject } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 120_000 });

const schema = '{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}';
const bySchema = 'schema = "out.json"';
const expectations = {
  right: `${bySchema}\nreturned = true\nsaid = true`,
  wrong: bySchema,
  empty: "returned = true",
  silent: "said = true",
  waiter: bySchema,
};

let project: LiveProject;
beforeEach(async () => {
  project = await commandAgents((dir) => ({
    right: `al-return '{"id":1}'`,
    wrong: `al-return '{"id":"one"}'`,
    empty: "true",
    silent: "al-exit 0; sleep 60",
    waiter: `touch '${dir}/begun'; ${until(`${dir}/go`)}; al-return '{"id":"one"}'`,
    caller: `${callOf("wrong")}; al-return "$(al-subagent-wait "$id")"`,
  }));
  for (const [agent, lines] of Object.entries(expectations)) {
    await project.append(`agents/${agent}/config.toml`, `[expect]\n${lines}\n`);
    await project.write(`agents/${agent}/out.json`, schema);
  }
});

const refused = "the returned value does not meet out.json: /id must be integer";

/** How a run of an agent ends: on the command line, and in the history. */
async function endOf(agent: string) {
  const { code } = await project.al("run", agent);
  const { outcome, reason } = (await project.latest(agent)) ?? {};
  return [code, outcome, reason];
}

test("a run fails if it leaves less than its agent expects, with either harness, and its caller sees it", async () => {
  await project.append(
    "config.toml",
    '[models.scripted]\nprovider = "scripted"\nscript = "said.script.toml"\n',
  );
  await project.write("said.script.toml", '[[turns]]\ntext = "done"\n');
  const pi =
    'callable = true\nmodels = ["scripted"]\ncredentials = []\n[expect]\nreturned = true\n';
  await project.write(
    "agents/pi/config.toml",
    `${pi}[runtime]\ntype = "host-user"\nrun_as = "$USER"\n`,
  );
  await project.write("agents/pi/SKILL.md", "Be.\n");
  await project.start();
  expect(await endOf("right")).toEqual([0, "succeeded", null]);
  expect(await endOf("wrong")).toEqual([1, "failed", refused]);
  expect(await endOf("empty")).toEqual([1, "failed", "nothing returned"]);
  expect(await endOf("silent")).toEqual([1, "failed", "said nothing"]);
  expect(await endOf("pi")).toEqual([1, "failed", "nothing returned"]);
  await project.al("run", "caller");
  expect(await project.latest("caller")).toMatchObject({
    value: { calls: [{ agent: "wrong", outcome: "failed" }] },
  });
});

test("an adopted run is checked by the schema that it began with", async () => {
  await project.start();
  expect(await project.trigger("waiter")).toEqual([202]);
  await expect.poll(() => project.read("begun").catch(() => null), slowly).toBe("");
  await project.scheduler.kill();
  await project.write("agents/waiter/out.json", "true");
  await project.start();
  await project.write("go", "");
  await expect
    .poll(() => project.latest("waiter"), slowly)
    .toMatchObject({ outcome: "failed", reason: refused, attempt: 1 });
});
