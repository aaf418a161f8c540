import { harnesses } from "../../../streams/harnesses.ts";
import type { Trigger, WebhookEvent } from "../../../streams/vocabulary.ts";
import { credentialName } from "../../foundation/contracts/credential-reference.ts";
import type { Job, JobCredential } from "../../foundation/contracts/job.ts";
import { agentCommands } from "../../foundation/contracts/run-requests/table.ts";
import { toolsFor } from "./tools.ts";
import { cut } from "./message-writer.ts";

/** What the prompt has besides the job. */
interface PromptContext {
  /** IANA name of the run's time zone. */
  readonly timezone: string;
  /** Epoch ms. */
  readonly now: number;
  /** Where the webhook's whole body is, as a path relative to the working directory; null without one. */
  readonly payloadFile: string | null;
  /** Whether the agent's own commands work. */
  readonly commands: boolean;
}

/**
 * The user prompt of a run: what the agent is configured with, where it is, and what triggered it. Text that
 * comes from outside is written so that it cannot end the section it is in.
 */
export function promptFor(job: Job, context: PromptContext): string {
  return [
    section("agent-config", job.params),
    section("credential-context", job.credentials.map(credentialNames)),
    section("environment", environment(job, context)),
    ...requestsSection(job, context),
    triggerSection(job.trigger, context),
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

function environment(job: Job, { timezone, now }: PromptContext) {
  const local = new Date(now).toLocaleString("sv-SE", { timeZone: timezone });
  return {
    agent: job.agent,
    instance: job.instanceId,
    workingDirectory: job.workDir,
    startedAt: new Date(now).toISOString(),
    timezone,
    localTime: local,
    timeoutSeconds: job.timeoutSeconds,
  };
}

/** What the agent can ask for while it runs: tools in pi, commands in an external CLI; nothing that it hasn't. */
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
    .filter(({ request }) => tools.some((tool) => tool.request === request))
    .map(({ usage, purpose }) => `${usage}  (${purpose})`);
  const head =
    "Commands of the scheduler in your shell. Each prints one JSON object and exits with 0 when it was done, 1 when it was refused:";
  return [["<abilities>", head, ...lines, "</abilities>"].join("\n")];
}

function triggerSection(trigger: Trigger, { payloadFile }: PromptContext): string {
  switch (trigger.kind) {
    case "cron":
      return `You were started by your schedule, for ${new Date(trigger.scheduledFor).toISOString()}.`;
    case "webhook":
      return section("webhook-trigger", { ...shortEvent(trigger.event, payloadFile), payloadFile });
    case "agent-call": {
      const { caller, callerInstance, depth, context } = trigger;
      return section("agent-call", { caller, callerInstance, depth, context });
    }
    case "manual":
      if (trigger.prompt === null) return "You were started by hand, without a further request.";
      return `<user-prompt>\n${withoutOurTags(trigger.prompt)}\n</user-prompt>`;
  }
}

/** JSON whose `<` are escapes: it holds no tag, and parses to the same value. */
function section(tag: string, value: unknown): string {
  const json = JSON.stringify(value, null, 2).replaceAll("<", "\\u003c");
  return `<${tag}>\n${json}\n</${tag}>`;
}

const ourTags =
  /<(?=\/?(?:agent-config|credential-context|environment|abilities|webhook-trigger|agent-call|user-prompt)\b)/gi;

/** Plain text keeps its `<`, but not where it would open or close one of the prompt's own sections. */
function withoutOurTags(text: string): string {
  return text.replaceAll(ourTags, "&lt;");
}

/** Characters of a webhook's body text in the prompt; the whole is in the payload file. */
const maxBodyCharacters = 16_000;

/** The event with a body text that a model can take in. */
export function shortEvent<E extends Pick<WebhookEvent, "body">>(
  event: E,
  payloadFile: string | null,
): E {
  const { body } = event;
  if (body === null || body.length <= maxBodyCharacters) return event;
  const rest = payloadFile === null ? "" : `\n[cut here; the whole event is in ${payloadFile}]`;
  return { ...event, body: `${cut(body, maxBodyCharacters)}${rest}` };
}

/** The system prompt of an agent. Without any instructions a harness would bring its own, a coding assistant's. */
export function systemPrompt(instructions: string, title: string): string {
  return instructions.trim() === "" ? `You are the agent "${title}".` : instructions;
}
