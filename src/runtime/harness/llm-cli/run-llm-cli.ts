import { glob } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sessionProgram } from "../../../../streams/harnesses.ts";
import type { Harness, Session } from "../harness.ts";
import { realTime, type Time } from "../run-clock.ts";
import { transcriptOf } from "../transcript.ts";
import { cliFor } from "./clis.ts";
import { goOn, type LlmCli } from "./llm-cli.ts";
import { backoffMs, retriesOf } from "../retry-policy.ts";
import { runCliOnce, type CliRun, type CliSession } from "./run-cli-once.ts";
import type { SessionFailure } from "./session-failure.ts";
import { apiBaseUrl, plainApi } from "../../../foundation/contracts/model-defaults.ts";
import type { ModelApi } from "../../../../streams/agent-config.ts";
import type { JobModel } from "../../../foundation/contracts/job.ts";

export const runLlmCli: Harness = (session) => runInCli(session, realTime);

/**
 * Runs the session in the external CLI that `[harness].command` names, with the first model only. The CLI's own result
 * determines success.
 */
export async function runInCli(session: Session, time: Time): ReturnType<Harness> {
  const { job, emit } = session;
  const [model] = job.models;
  if (model === undefined) throw new Error("the job has no model");
  const cli = cliFor(job.harness.command);
  const transcript = transcriptOf(emit);
  const api = cli.api ?? plainApi(model);
  const upstream = upstreamOf(model, cli, api);
  const baseUrl = session.endpoint.baseUrl(model, upstream);
  const warning = oddPair(model, cli);
  if (warning !== null) transcript.note(40, warning);
  transcript.note(
    30,
    `session starts in ${cli.program} with model "${model.name}" (${model.model})`,
  );
  const start = { cli, model, api, upstream, baseUrl, transcript, session, time };
  const { failure, usage } = await runWithRetries(start);
  transcript.end();
  const { tokens, costUsd } = usage;
  if (tokens !== null && tokens > 0) transcript.used(model.name, { tokens, costUsd });
  if (failure !== null && failure.cooldownMs !== null) {
    emit({ type: "cooldown", model: model.name, until: Date.now() + failure.cooldownMs });
  }
  return { error: failure?.message ?? null, usage: { model: model.name, ...usage } };
}

/**
 * CLIs retry by themselves. After a failure that the CLI doesn't retry, such as 429 in codex, its session is resumed if
 * possible: earlier work is neither lost nor repeated. Both kinds of retries count against `maxRetries` of the request.
 */
async function runWithRetries(start: CliSession): Promise<CliRun> {
  const { cli, model, transcript, session } = start;
  const retries = retriesOf(model);
  let run = await runCliOnce(start, await keptSession(start), session.prompt);
  for (let attempt = 1; attempt <= retries && isResumable(run); attempt += 1) {
    const { failures = attempt, usage } = run;
    if (failures > retries) break;
    const delayMs = Math.max(run.failure.retryAfterMs ?? 0, backoffMs(failures - 1, Math.random()));
    if (delayMs > session.clock.remainingMs() / 2) break;
    transcript.note(40, retryText(run.failure, cli, delayMs, `${failures} of ${retries}`));
    await wait(delayMs, undefined, { signal: session.signal }).catch(() => undefined);
    if (session.signal.aborted) break;
    const left = { ...model, maxRetries: retries - failures };
    const text = run.sessionId === null ? session.prompt : goOn;
    run = await runCliOnce({ ...start, model: left }, run.sessionId, text);
    run = { ...run, usage: sumOfUsage(usage, run.usage) };
  }
  return run;
}

/** Resumes the session that the run continues; null for a new one. */
async function keptSession({ cli, session: { job } }: CliSession): Promise<string | null> {
  const { keptSession: kept } = cli;
  const folder = sessionProgram(job.harness)?.folder;
  if (job.continues === undefined || kept === undefined || folder === undefined) return null;
  const cwd = join(job.workDir, folder);
  const paths: string[] = [];
  for await (const path of glob(kept.files, { cwd })) paths.push(path);
  const [path] = paths.sort();
  if (path === undefined) throw new Error(`${cli.program} finds no session to continue`);
  return kept.idOf(join(cwd, path));
}

/** Each process counts its own. */
function sumOfUsage(one: CliRun["usage"], other: CliRun["usage"]): CliRun["usage"] {
  const sum = (a: number | null, b: number | null) => (a === null ? b : a + (b ?? 0));
  return {
    tokens: sum(one.tokens, other.tokens),
    costUsd: sum(one.costUsd, other.costUsd),
    turns: sum(one.turns, other.turns),
  };
}

/** A failure that may pass, in a session that the CLI can resume, or that has done nothing yet. */
function isResumable(run: CliRun): run is CliRun & { readonly failure: SessionFailure } {
  const isPassing = run.failure !== null && run.failure.cooldownMs !== null;
  return isPassing && (run.sessionId !== null || run.mayRestart);
}

function retryText(
  { message }: SessionFailure,
  { program }: LlmCli,
  delayMs: number,
  count: string,
): string {
  return `${message}; ${program} resumes in ${(delayMs / 1000).toFixed(1)} s (${count})`;
}

/** The gateway plays a script at any host. */
const scriptedUrl = "http://scripted/v1";

/** Base URL of the provider's API. Throws for a model that the CLI can't ask. */
function upstreamOf(model: JobModel, { program, provider }: LlmCli, api: ModelApi): string {
  const name = `model "${model.name}"`;
  if (provider === null) {
    return apiBaseUrl(model.baseUrl, { provider: model.provider, api }) || scriptedUrl;
  }
  if (model.provider === "scripted") {
    throw new Error(
      `${name} is scripted, and only the pi harness can replay it: set type = "pi" under [harness]`,
    );
  }
  if (model.provider !== provider && model.baseUrl === null) {
    throw new Error(
      `${name} is a model of ${model.provider}, but ${program} needs a model of ${provider}: use one, or set the model's baseUrl to a server with ${provider}'s API`,
    );
  }
  return apiBaseUrl(model.baseUrl, { provider: model.provider, api });
}

/** A warning if the CLI is made for another provider than the model's; null otherwise. */
function oddPair(model: JobModel, { program, provider }: LlmCli): string | null {
  if (provider === null || model.provider === provider) return null;
  return `model "${model.name}" is a model of ${model.provider}, but ${program} needs a model of ${provider}`;
}
