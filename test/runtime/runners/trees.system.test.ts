import { join } from "node:path";
import type { JobOptions } from "../harness/jobs.ts";
import { aScripted } from "../harness/jobs.ts";
import type { SocketOfRun } from "../run-api/support.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import { aFile, aTree, treeSide } from "../harness/tree-side.ts";
import { testEngine } from "../../helpers/docker.ts";
import { tempUser, whyNoOsUsers } from "../../helpers/os-users.ts";
import { perFile, perTest } from "../../helpers/per-test.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import * as container from "./container/agent-events.ts";
import { exitOf, messagesOf } from "./contract.ts";
import * as hostUser from "./host-user/agent-events.ts";
import { aRequest } from "./shell-runs.ts";

const { engine, missing } = await testEngine();
const side = perTest(treeSide, (each) => each.remove());
const request = aRequest("dev");
const { instanceId } = request;

const trees = [
  aTree("memory", { get: true }),
  aTree("out"),
  aTree("cache/0", { path: "~/.cache/tool", get: true }),
];

/** A run that reads what it received, and leaves files in each folder. */
function aRun(): JobOptions {
  const command =
    "cat memory/notes ~/.cache/tool/a; echo more >> memory/notes; mkdir out; " +
    "echo '#!/bin/sh' > out/program; chmod 700 out/program; ln -s /etc out/etc; echo b > ~/.cache/tool/b";
  const turns = [{ tools: [{ name: "bash", arguments: { command } }] }, { text: "Done." }];
  return { instanceId, models: [aScripted(turns)], trees };
}

/** Calls `act` with a socket of the run, and expects what it sent. */
async function expectFiles(
  act: (channel: SocketOfRun) => Promise<readonly RunnerEvent[]>,
  baseDir?: string,
): Promise<void> {
  const { trees: all, openRun } = side();
  const stored = all.trees;
  stored.set("memory", { notes: aFile("remember\n") });
  stored.set("cache/0", { a: aFile("cached\n") });
  const events = await act(await openRun(instanceId, baseDir));
  expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
  expect(JSON.stringify(events)).toContain("remember\\ncached");
  expect(messagesOf(events)).toContain("out: 1 file left out: etc is a link");
  expect(stored.get("memory")).toEqual({ notes: aFile("remember\nmore\n") });
  expect(stored.get("cache/0")).toEqual({ a: aFile("cached\n"), b: aFile("b\n") });
  expect(stored.get("out")).toEqual({ program: aFile("#!/bin/sh\n", true) });
}

describe("the files of a run", () => {
  test("are received and sent as the scheduler's own user", async () => {
    await expectFiles((channel) =>
      hostUser.agentEvents(tempDir(), { ...aRun(), channel }, {}, request),
    );
  });

  describe.skipIf(whyNoOsUsers() !== null)("as another OS user", () => {
    const user = perFile(tempUser, (made) => made.remove());

    test("are received and sent", async () => {
      const baseDir = join(tempDir(0o755), "runs");
      const { name } = user();
      const asOther = {
        ...aRequest("dev", { runtime: { type: "host-user", runAs: name } }),
        instanceId,
      };
      await expectFiles(
        (channel) => hostUser.agentEvents(baseDir, { ...aRun(), channel }, {}, asOther),
        tempDir(0o755),
      );
    });
  });

  describe.skipIf(missing !== null)("in a container", () => {
    const images = container.programImages(engine);

    test("are received and sent", async () => {
      await expectFiles((channel) => container.agentEvents(engine, images(), aRun(), { channel }));
    });
  });
});
