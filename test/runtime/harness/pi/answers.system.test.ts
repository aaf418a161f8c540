import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostedModel } from "../model-host.ts";
import { answerTable, type AnswerRow } from "./answer-table.ts";
import { startFakeUpstream } from "./fake-upstream.ts";
import { runSession } from "./run-session.ts";
import { aModel } from "../jobs.ts";
import { perFile } from "../../../helpers/per-test.ts";

/** A provider of each wire format, with a model of pi's own table. */
const models = [
  ["anthropic", "claude-opus-4-5"],
  ["openai", "gpt-5.1"],
  ["google", "gemini-2.5-pro"],
  ["mistral", "mistral-medium-latest"],
  ["custom", "local-1"],
] as const;

const backup = { reply: { kind: "text", text: "From the backup." } } as const;
const upstream = perFile(startFakeUpstream, (upstream) => upstream.close());
const workDir = perFile(
  () => mkdtemp(join(tmpdir(), "al-answers-")),
  (dir) => rm(dir, { recursive: true }),
);

/** Nothing listens here, and no other program is given this port. */
const absent = "http://127.0.0.1:1/0/v1";

/** A session with this model first. */
async function session(
  row: AnswerRow,
  { provider, model }: Pick<HostedModel, "provider" | "model">,
  hasFallback = false,
) {
  const { actions, maxRetries = null, timeoutSeconds = null } = row;
  const first = upstream().route(actions);
  const second = upstream().route([backup]);
  const baseUrl = actions.length === 0 ? absent : first.baseUrl;
  const settings = { provider, model, maxRetries, timeoutSeconds };
  const fallback = hasFallback ? [aModel("backup", second.baseUrl)] : [];
  const { error, usage, waits, messages } = await runSession({
    workDir: workDir(),
    models: [aModel("first", baseUrl, settings), ...fallback],
  });
  const retries = messages.flatMap((message) =>
    message.type === "log" && message.kind === "run" ? (message.fields?.delayMs ?? []) : [],
  );
  expect(retries).toEqual(waits.map((wait) => wait * 1000));
  const requests = [first.requests.length, second.requests.length];
  return { error, model: usage.model, waits, requests };
}

describe.concurrent.each(models)("a session with %s's %s", (provider, model) => {
  test.each(answerTable)("without a fallback ends as expected after $name", async (row) => {
    const { error, requests, waits = [] } = row.alone;
    const ended = await session(row, { provider, model });
    expect(ended).toMatchObject({ model: "first", waits, requests: [requests, 0] });
    if (error === null) return expect(ended.error).toBeNull();
    expect(ended.error).toMatch(error);
    return expect(ended.error).toMatch(/^model "first": /);
  });
});

describe.concurrent("a session with a fallback", () => {
  test.each(answerTable)("ends as expected after $name", async (row) => {
    const { requests, waits = [] } = row.beforeFallback ?? row.alone;
    const isGivenUp = row.beforeFallback !== undefined || row.alone.error !== null;
    expect(await session(row, { provider: "custom", model: "local-1" }, true)).toEqual({
      error: null,
      model: isGivenUp ? "backup" : "first",
      waits,
      requests: [requests, isGivenUp ? 1 : 0],
    });
  });
});
