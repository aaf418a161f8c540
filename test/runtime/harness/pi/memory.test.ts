import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { aJob, aJobMemory, aScripted } from "../jobs.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const bash = (command: string) => ({ tools: [{ name: "bash", arguments: { command } }] });

test("after a tool call, pi reads once which limit of its memory is exceeded", async () => {
  const workDir = tempDir();
  const models = [
    aScripted([
      bash("mkdir memory && echo ok"),
      bash("head -c 2000 /dev/zero > memory/log && echo large"),
      bash("echo still large"),
      { tools: [{ name: "write", arguments: { path: "memory/log", content: "small" } }] },
      { text: "Done." },
    ]),
  ];
  const job = aJob(workDir, {
    models,
    memory: [aJobMemory({ maxBytes: 1024, maxFileBytes: 1024 })],
  });
  const { error, messages } = await runSession({ workDir, job });
  expect(error).toBeNull();
  const results = messages.flatMap((message) =>
    message.type === "log" && message.kind === "tool-result"
      ? [String(message.fields?.output)]
      : [],
  );
  expect(results).toEqual([
    "ok\n",
    expect.stringMatching(/^large\n\n?memory\/ has 2.0 KiB, of at most 1.0 KiB. memory\/log has/),
    "still large\n",
    expect.stringMatching(/The memory is within its limits again.$/),
  ]);
  expect(await readFile(join(workDir, "memory/log"), "utf8")).toBe("small");
});
