import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sleepingProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import type { LiveProject } from "../helpers/live-project.ts";
import { isLong } from "../helpers/long.ts";

const { engine, missing } = await testEngine();
const slowly = { timeout: 90_000 };

describe.skipIf(missing !== null)(
  "the result of a run in a container",
  { timeout: 180_000 },
  () => {
    let project: LiveProject;
    beforeAll(() => defaultTestImage(engine), engineSetupMs);
    beforeEach(async () => {
      project = await sleepingProject(engine, { sleepSeconds: 0 });
      const command = JSON.stringify(`al-return '{"id":"one"}'; sleep ${isLong ? 8 : 3}`);
      await project.write(
        "boxed.script.toml",
        `[[turns]]\n[[turns.tools]]\nname = "bash"\narguments = { command = ${command} }\n\n[[turns]]\ntext = "done"\n`,
      );
      await project.append(
        "agents/boxed/config.toml",
        '[expect]\nsaid = true\nschema = "out.json"\n',
      );
      await project.write("agents/boxed/out.json", '{"properties":{"id":{"type":"integer"}}}');
      await project.start();
      await project.trigger("boxed");
      await expect.poll(() => project.messages("boxed", "tool"), slowly).toHaveLength(1);
    });

    const refused = {
      outcome: "failed",
      exitCode: 1,
      reason: "the returned value does not meet out.json: /id must be integer",
      attempt: 1,
    };

    test.runIf(isLong)("fails the run if the schema rejects it", async () => {
      await expect.poll(() => project.latest("boxed"), slowly).toMatchObject(refused);
    });

    test("fails the run under the scheduler that adopts it", async () => {
      await project.crash();
      await expect.poll(() => project.latest("boxed"), slowly).toMatchObject(refused);
    });
  },
);
