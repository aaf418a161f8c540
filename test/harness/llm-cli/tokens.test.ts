import { expect, it } from "vitest";
import { endMessageOf, logsOf } from "../run-entry.ts";
import { startPlay } from "./play.ts";
import type { Program } from "./play.ts";
import { codexRecords, geminiChat } from "./records.ts";
import { claudePartial, codexFailure, codexStream, geminiStream } from "./streams.ts";

const cases: readonly (readonly [Program, readonly unknown[], string, number])[] = [
  ["claude", claudePartial, "", 241],
  ["codex", codexStream.slice(0, 5), codexRecords(120, 240), 240],
  ["gemini", geminiStream.slice(0, 5), geminiChat(120, 150), 270],
];

it.each(cases)(
  "keeps the tokens of %s when the run is stopped",
  async (program, stream, record, tokens) => {
    const then = `${record}\necho playing >&2; sleep 60`;
    const { child, ended } = await startPlay(program, { stream, then });
    let output = "";
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString("utf8");
        if (output.includes("playing")) resolve();
      });
    });
    child.kill("SIGTERM");
    const run = await ended;
    expect(run.exitCode).toBe(143);
    expect(endMessageOf(run).usage).toMatchObject({ model: "main", tokens });
    expect(logsOf(run, "usage").map(({ msg }) => msg)).toEqual([`${tokens} tokens`]);
  },
);

it("has the tokens of a session of codex that failed, which its stream leaves out", async () => {
  const behaviour = { stream: codexFailure("boom"), then: codexRecords(120), exitCode: 1 };
  const run = await (await startPlay("codex", behaviour, { maxRetries: 0 })).ended;
  expect(endMessageOf(run).usage.tokens).toBe(120);
});
