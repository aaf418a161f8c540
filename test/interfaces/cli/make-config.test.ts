import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { cliProject, scriptedModel } from "./fake-operator.ts";

const other = '[models.other]\nprovider = "openai"\nmodel = "gpt-5"\n';
const hub = '[webhooks.hub]\ntype = "github"\nallowUnsigned = true\n';
const at = "agents/skillonly/config.toml";

const cli = cliProject();
beforeEach(() => {
  cli.write("config.toml", scriptedModel + other + hub);
  cli.addAgent("dev", "scale = 0");
  cli.write("agents/skillonly/SKILL.md", "Do it.\n");
  mkdirSync(join(cli.projectDir, "agents/empty"));
});

describe("al config of a directory with only a SKILL.md", () => {
  test("makes the config.toml that al agent new makes", async () => {
    await cli.prints(
      `config skillonly --set 'models=["main"]' --set 'schedule=0 8 * * *'`,
      `${join(cli.projectDir, at)} is made\n`,
    );
    await cli.output("agent new other --model main --schedule '0 8 * * *'");
    expect(parse(cli.read(at))).toEqual(parse(cli.read("agents/other/config.toml")));
    expect(cli.read(at)).toMatch(/^#:schema \.\.\/\.\.\/\.al\/schema\/agent\.json\n/);
    expect(cli.read(".al/schema/agent.json")).toContain("schedule");
    expect(cli.read("agents/skillonly/SKILL.md")).toBe("Do it.\n");
  });

  test("sets no OS user for a container", async () => {
    const sets = `--set 'models=["main"]' --set runtime.type=container`;
    const webhooks = `--set 'webhooks=[{ source = "hub" }]'`;
    expect(await cli.json(`config skillonly ${sets} ${webhooks}`)).toEqual({
      file: join(cli.projectDir, at),
      changed: ["models", "runtime.type", "webhooks"],
    });
    expect(parse(cli.read(at))).toEqual({
      models: ["main"],
      credentials: [],
      webhooks: [{ source: "hub" }],
      runtime: { type: "container" },
    });
  });

  test("takes the project's only model", async () => {
    cli.write("config.toml", scriptedModel);
    await cli.output("config skillonly --set scale=0");
    expect(parse(cli.read(at))).toMatchObject({ models: ["main"], scale: 0 });
  });

  test.each([
    [`--set 'models=["main"]'`, "neither schedule nor webhooks"],
    ["--set 'schedule=0 8 * * *'", "models is an empty list; expected"],
    [`--set 'models=["mian"]' --set scale=0`, 'did you mean "main"'],
    [`--set 'models=["main"]' --set scale=0 --set tiemout=9`, '"timeout"'],
    ["--unset timeout", "has no key timeout"],
    ["", "al config skillonly --add 'models=<model>' --set callable=true makes one"],
  ])("rejects the flags %j with %j, and writes nothing", async (args, text) => {
    await cli.fails(`config skillonly ${args}`, text);
    expect(() => cli.read(at)).toThrow("ENOENT");
  });
});

test.each([
  ["empty", /there is no agent "empty"\nhint: agents: dev, skillonly\n/],
  ["emty", /^(?![^]*did you mean)/],
  ["skilonly", /did you mean "skillonly"\?/],
])(
  'al config of the unknown agent "%s" suggests only agents and skills',
  async (name, text) => await cli.fails(`config ${name} --set scale=0`, text),
);

test.each([
  ["dev", "al config dev --set changes the agent"],
  ["skillonly", "al config skillonly --add 'models=<model>' --set callable=true makes its config"],
  ["empty", "it holds no agent: move it away, or choose another name"],
])("al agent new for the existing directory %s prints the next command", async (name, hint) => {
  const line = `agent new ${name} --model main --schedule '* * * * *'`;
  await cli.fails(line, `hint: ${hint}`);
});
