import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { refusal } from "../../foundation/credentials/home.ts";
import { readScriptFile } from "../../../src/features/models/scripted.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perTest } from "../../helpers/per-test.ts";

const directory = perTest(tempDir);
const path = perTest(() => join(directory(), "hello.toml"));

async function problemOf(text: string): Promise<string> {
  await writeFile(path(), text);
  return (await refusal(readScriptFile(path()))).message;
}

test("a scripted model's file becomes turns with texts and tool calls", async () => {
  await writeFile(
    path(),
    `[[turns]]\ntext = "Looking."\n[[turns.tools]]\nname = "bash"\narguments = { command = "ls" }\n[[turns]]\ntext = "Done."\ndelayMs = 5\n`,
  );
  expect(await readScriptFile(path())).toEqual({
    turns: [
      { text: "Looking.", tools: [{ name: "bash", arguments: { command: "ls" } }] },
      { text: "Done.", delayMs: 5 },
    ],
  });
});

test("a missing script file of a scripted model is named in the error", () =>
  expect(readScriptFile(path())).rejects.toThrow(`the script ${path()} is not there`));

test("the error about a script file in broken TOML names line and column", async () =>
  expect(await problemOf(`[[turns]]\ntext = nonsense\n`)).toContain(`${path()}:2:8`));

test("the error about a script file names the turn with a wrong value or an unknown key, or says that turns are missing", async () => {
  expect(await problemOf(`[[turns]]\ntext = 5\n`)).toContain("turns.0.text");
  expect(await problemOf(`[[turns]]\nsays = "x"\n`)).toContain(`"says"`);
  expect(await problemOf(``)).toContain("turns");
});
