import { join } from "node:path";
import { isoTime } from "../../../streams/iso-times.ts";
import { harnesses } from "../../../streams/harnesses.ts";
import type { Trigger } from "../../../streams/vocabulary.ts";
import { bytesText, relativeTime } from "../../foundation/contracts/format.ts";
import { outFolder } from "../../foundation/contracts/file-tree.ts";
import { credentialName } from "../../foundation/contracts/credential-reference.ts";
import type { Job, JobCredential } from "../../foundation/contracts/job.ts";
import { agentCommands } from "../wire/requests/table.ts";
import { canMake, toolsFor } from "./tools.ts";
import { cut } from "./message-writer.ts";
import type { PersonMessage } from "./run-api/people.ts";
import { jsonOf } from "../../foundation/contracts/json-size.ts";

/** Input of the prompt besides the job. */
interface PromptContext {
  /** IANA name of the run's time zone. */
  readonly timezone: string;
  /** Epoch ms. */
  readonly now: number;
  /** Path of the webhook's whole body; null if no webhook triggered the run. */
  readonly payloadFile: string | null;
  /** Path of all gathered deliveries; null if the run does not get them. */
  readonly deliveriesFile: string | null;
  /** Whether the agent's own commands work. */
  readonly commands: boolean;
}

/**
 * The user prompt of a run: the agent's config, its environment and the trigger. External text is escaped so that it
 * cannot end its section.
 */
export function promptFor(job: Job, context: PromptContext): string {
  return [
    section("agent-config", job.params),
    section("credential-context", job.credentials.map(credentialNames)),
    section("environment", environment(job, context)),
    ...workspaceText(job),
    ...requestsSection(job, context),
    ...memorySection(job),
    ...continuedText(job),
    triggerSection(job, context),
    ...gatheredText(job, context),
  ].join("\n\n");
}

function credentialNames(credential: JobCredential) {
  const { env, fileEnv, git } = credential;
  return {
    credential: credentialName(credential),
    environmentVariables: Object.keys({ ...env, ...fileEnv }),
    ...(git === undefined ? {} : { gitAuthenticatesAt: git.url }),
  };
}

function workspaceText({ workspace }: Job): readonly string[] {
  if (workspace === undefined) return [];
  return [
    `The repository is checked out in the folder ${JSON.stringify(workspace.dir)} of your working directory, which is also in AL_WORKSPACE. Commands start in the working directory, so change into the folder first. The checkout is removed when this run ends: push what has to stay.`,
  ];
}

function environment(job: Job, { timezone, now }: PromptContext) {
  const local = new Date(now).toLocaleString("sv-SE", { timeZone: timezone });
  return {
    agent: job.agent,
    instance: job.instanceId,
    workingDirectory: job.workDir,
    ...(job.trees?.some(({ path }) => path === outFolder) && {
      artifacts: `Files in ${outFolder}/ of the working directory are kept with this run.`,
    }),
    ...(job.workspace && { checkout: join(job.workDir, job.workspace.dir) }),
    startedAt: isoTime(now),
    timezone,
    localTime: local,
    timeoutSeconds: job.timeoutSeconds,
  };
}

/** Lists the requests that the agent can make while it runs: tools in pi, commands in an external CLI. */
function requestsSection(job: Job, { commands }: PromptContext): readonly string[] {
  const tools = toolsFor(job);
  if (harnesses[job.harness.type].offersTools) {
    const names = tools.map(({ name }) => name).join(", ");
    return [
      `<abilities>\nTools of the scheduler, beside your own: ${names}. Each answers with one JSON object.\n</abilities>`,
    ];
  }
  if (!commands) return [];
  const lines = agentCommands
    .filter(({ request }) => canMake(job, request))
    .map(({ usage, purpose }) => `${usage}  (${purpose})`);
  const head =
    "Commands of the scheduler in your shell. Each prints one JSON object and exits with 0 when it was done, 1 when it was refused:";
  return [["<abilities>", head, ...lines, "</abilities>"].join("\n")];
}

/** The folders that are kept between runs, and their limits. */
function memorySection({ memory }: Job): readonly string[] {
  if (memory === undefined) return [];
  const folders = memory.map(({ tree, isReadOnly, conflicts, notKept, ...one }) => ({
    folder: `${tree}/`,
    used: `${bytesText(one.bytes)} of ${bytesText(one.maxBytes)}`,
    largestFile: bytesText(one.maxFileBytes),
    ...(isReadOnly && { readOnly: true }),
    ...(conflicts.length > 0 && { conflictFiles: conflicts }),
    ...(notKept && { notKept: `The files of ${notKept.instanceId}: ${notKept.reason}` }),
    ...(one.schemas.length > 0 && { mustMatchSchema: one.schemas.map(({ path }) => path) }),
  }));
  return [memoryText, section("memory", folders)];
}

const memoryText =
  "These folders of your working directory are kept between runs, if this run succeeds. Files in a folder that is over a limit at the end are not kept at all, and nothing is cut to fit. Changes in a read-only folder are not kept. A conflict file has what another run wrote at the same time: merge it into its file, and delete it.";

function triggerSection({ trigger, schedulePrompt }: Job, { payloadFile }: PromptContext): string {
  switch (trigger.kind) {
    case "cron":
      return [scheduleText(trigger), ...userPrompt(schedulePrompt ?? null)].join("\n\n");
    case "webhook":
      return section("webhook-trigger", { ...shortEvent(trigger.event, payloadFile), payloadFile });
    case "agent-call": {
      const { caller, callerInstance, depth, context } = trigger;
      return section("agent-call", { caller, callerInstance, depth, context });
    }
    case "manual":
      return manualText(trigger);
  }
}

/** Tells the model of a late run which time it is to work for. */
function scheduleText({
  schedule,
  scheduledFor,
  late,
}: Extract<Trigger, { kind: "cron" }>): string {
  const name = schedule === undefined ? "" : ` ${JSON.stringify(schedule)}`;
  const at = isoTime(scheduledFor);
  const text = `You were started by your schedule${name}, for ${at}.`;
  if (late === undefined) return text;
  return `${text} That run did not start at its time, and you make up for it now (${late}): work as of ${at}.`;
}

function userPrompt(prompt: string | null): readonly string[] {
  return prompt === null ? [] : [`<user-prompt>\n${withoutOurTags(prompt)}\n</user-prompt>`];
}

/** The trigger is the latest of the gathered deliveries. */
function gatheredText({ gathered }: Job, { deliveriesFile }: PromptContext): readonly string[] {
  if (gathered === undefined) return [];
  const { count } = gathered;
  const head = `This run represents ${count} webhook ${count === 1 ? "delivery" : "deliveries"}, of which the latest is above.`;
  const all = "They are in the order of their arrival, as a JSON list with their payloads, in";
  return [deliveriesFile === null ? head : `${head} ${all} ${deliveriesFile}.`];
}

type ManualTrigger = Extract<Trigger, { kind: "manual" }>;

function manualText({ prompt }: ManualTrigger): string {
  const [text = "You were started by hand, without a further request."] = userPrompt(prompt);
  return text;
}

/** Tells the model that time has passed since the session that it continues, and what is new. */
function continuedText({ continues, models: [model] }: Job): readonly string[] {
  if (continues === undefined) return [];
  const { instanceId, endedAt, outcome, key, lost } = continues;
  const when =
    endedAt === null ? "" : ` at ${endedAt} (${relativeTime(Date.parse(endedAt), Date.now())})`;
  const isOther = continues.model !== null && model !== undefined && continues.model !== model.name;
  const sentences = [
    `The messages above are those of the run ${instanceId}, which ended${when}: ${outcome}.`,
    key !== null &&
      `This run continues the same conversation, ${JSON.stringify(key)}, with the new trigger below.`,
    lost !== null &&
      `After it, the run ${lost.instanceId} of this conversation ended without leaving its messages: ${lost.outcome}.`,
    "The results of its tools may be stale by now: check them before you rely on them.",
    "The working directory is a new one, without the files that were in the earlier one.",
    isOther && `It used the model "${String(continues.model)}"; you are "${model.name}".`,
  ];
  return [withoutOurTags(sentences.filter((text) => text !== false).join(" "))];
}

/** A message to the session while it is under way, for the model. */
export function messageText({ kind, text, by }: PersonMessage): string {
  return kind === "delivery" ? deliveryMessage(text) : personMessage(text, by);
}

/** A webhook delivery of the same session key; `event` is JSON. */
function deliveryMessage(event: string): string {
  return `Another webhook delivery of this conversation came while you work. Handle it, too, before you end:\n${section("webhook-trigger", jsonOf(event) ?? event)}`;
}

function personMessage(text: string, by: string): string {
  const from = withoutOurTags(by);
  return `A person (${from}) says while you work:\n<message-of-person>\n${withoutOurTags(text)}\n</message-of-person>`;
}

/** A section of JSON with escaped `<`: it contains no tag, and parses to the same value. */
function section(tag: string, value: unknown): string {
  const json = JSON.stringify(value, null, 2).replaceAll("<", "\\u003c");
  return `<${tag}>\n${json}\n</${tag}>`;
}

const ourTags =
  /<(?=\/?(?:agent-config|credential-context|environment|abilities|memory|webhook-trigger|agent-call|user-prompt|message-of-person)\b)/gi;

/** Escapes `<` only where it would open or close one of the prompt's own sections. */
function withoutOurTags(text: string): string {
  return text.replaceAll(ourTags, "&lt;");
}

/** The most characters of a webhook's body text in the prompt; the payload file has the whole body. */
const maxBodyCharacters = 16_000;

/** The event with its body text cut to a length that suits a model. */
export function shortEvent<E extends { readonly body: string | null }>(
  event: E,
  payloadFile: string | null,
): E {
  const { body } = event;
  if (body === null || body.length <= maxBodyCharacters) return event;
  const rest = payloadFile === null ? "" : `\n[cut here; the whole event is in ${payloadFile}]`;
  return { ...event, body: `${cut(body, maxBodyCharacters)}${rest}` };
}

/** The system prompt of an agent; never empty, because a harness would then use its own, a coding assistant's. */
export function systemPrompt(instructions: string, title: string): string {
  return instructions.trim() === "" ? `You are the agent "${title}".` : instructions;
}
