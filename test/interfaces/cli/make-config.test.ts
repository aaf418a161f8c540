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
});
