import { z } from "zod";
import { providers, type ModelConfig } from "../../../streams/agent-config.ts";
import { harnessTypes } from "../../../streams/harnesses.ts";
import type { Trigger } from "../../../streams/vocabulary.ts";

/**
 * The input of a run, as one JSON document on its standard input. It holds secrets, so it never becomes an
 * argument, an environment variable or a log line.
 */
export const scriptSchema = z.strictObject({
  turns: z
    .array(
      z.strictObject({
        /** The model's text in this turn. */
        text: z.string().optional(),
        /** The tool calls of this turn, with the arguments that the tool takes. */
        tools: z
          .array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }))
          .optional(),
        /** Waits this long before it answers, in milliseconds. */
        delayMs: z.int().min(0).max(600_000).optional(),
        /** Answers with this HTTP status instead, as a provider in trouble does. */
        status: z.int().min(400).max(599).optional(),
        /** The message that goes with `status`. */
        error: z.string().optional(),
      }),
    )
    .min(1),
});
export type Script = z.infer<typeof scriptSchema>;

/** Settings of a model that only the scheduler uses, including secrets. */
export const outsideOfRuns = [
  "credential",
  "script",
  "headers",
  "requestsPerMinute",
  "providerTools",
  "extraFields",
] as const satisfies readonly (keyof ModelConfig)[];

/** A model as runs get it. */
export interface JobModel extends Omit<ModelConfig, (typeof outsideOfRuns)[number]> {
  /** Why the model can't be used, such as a missing key; the run continues with the others. */
  readonly problem?: string;
}

/** The scheduler has checked the settings against the table of `[models.<name>]`; here they pass unchanged. */
const jobModelSchema = z
  .looseObject({ name: z.string(), provider: z.enum(providers), problem: z.string().optional() })
  .transform((model) => model as unknown as JobModel);

const jobCredentialSchema = z.object({
  type: z.string(),
  instance: z.string(),
  /** Field name to secret value. */
  fields: z.record(z.string(), z.string()),
  /** Environment variable to secret value, for the agent's commands and its hooks. */
  env: z.record(z.string(), z.string()),
  /** Variables that name the file of a field, which the run writes: `{field}` stands for its path. */
  fileEnv: z.record(z.string(), z.string()).optional(),
  /** Public texts, written as files like fields if `fileEnv` names them. */
  texts: z.record(z.string(), z.string()).optional(),
  /** Where git authenticates with it: the password is the value of `variable`. */
  git: z.object({ url: z.string(), username: z.string(), variable: z.string() }).optional(),
});
export type JobCredential = z.infer<typeof jobCredentialSchema>;

/** A file of the agent's skill, by its path below the agent's directory (`scripts/…`). */
const jobFileSchema = z.object({
  path: z.string().regex(/^(scripts|references|assets)\/(?!.*(^|\/)\.\.(\/|$))/),
  /** Base64. */
  content: z.string(),
  executable: z.boolean(),
});
export type JobFile = z.infer<typeof jobFileSchema>;

const jobTreeSchema = z.object({
  /** Such as `out`, `memory` or `cache/0`. */
  name: z.string(),
  /** The path of its folder: below the working directory (`out`), or below the home directory (`~/.npm`). */
  path: z.string(),
  /** Whether the run receives it before it begins. */
  get: z.boolean(),
  /** Whether the run sends it at its end. */
  put: z.boolean(),
  limits: z.object({
    bytes: z.number(),
    fileBytes: z.number(),
    entries: z.number(),
    depth: z.number(),
    nameBytes: z.number(),
  }),
  /** Sends the files that fit, in the order of their paths, and names the others; otherwise a tree over a limit is not sent. */
  keepsWhatFits: z.boolean().optional(),
  /** Fails the run if it can't be received; otherwise the run warns and goes on without it. */
  isRequired: z.boolean().optional(),
});
/** A folder of the run whose files come from the scheduler, or are sent to it. */
export type JobTree = z.infer<typeof jobTreeSchema>;

const jobMemorySchema = z.object({
  /** Name of the tree and of its folder below the working directory: `memory`, or `shared/<name>`. */
  tree: z.string(),
  isReadOnly: z.boolean(),
  maxBytes: z.number(),
  maxFileBytes: z.number(),
  /** Size of the files that the run receives. */
  bytes: z.number(),
  /** Paths of the conflict files among them. */
  conflicts: z.array(z.string()).readonly(),
  /** The latest run whose files were not kept, if they were not; null otherwise. */
  notKept: z.object({ instanceId: z.string(), reason: z.string() }).nullable(),
  /** JSON Schemas that files must match; `file` is that of the schema. */
  schemas: z.array(z.object({ path: z.string(), file: z.string(), text: z.string() })).readonly(),
});
/** A memory of a run: files that are kept between runs. */
export type JobMemory = z.infer<typeof jobMemorySchema>;

const jobNetworkSchema = z.object({
  /** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case. An address may hold a password. */
  variables: z.record(z.string(), z.string()),
  /** Certificates that are trusted beside Node's own, as PEM; null for none. */
  certificates: z.string().nullable(),
  /** Whether the bridge should be the run's only way out; a host user's run may still be open. */
  closed: z.boolean().optional(),
  /** Certificate of the run's own authority, as PEM; absent if the scheduler injects no secrets into its requests. */
  authority: z.string().optional(),
});
export type JobNetwork = z.infer<typeof jobNetworkSchema>;

const paramSchema = z.union([z.string(), z.number(), z.boolean()]);

export const jobSchema = z.object({
  instanceId: z.string(),
  agent: z.string(),
  title: z.string(),
  instructions: z.string(),
  /** Files that the instructions refer to; written into the working directory. */
  files: z.array(jobFileSchema).readonly().optional(),
  harness: z.object({
    type: z.enum(harnessTypes),
    command: z.string(),
    args: z.array(z.string()).readonly().optional(),
  }),
  /** In the order to try; models in cooldown come last. */
  models: z.array(jobModelSchema).min(1),
  params: z.record(z.string(), z.union([paramSchema, z.array(paramSchema).readonly()])),
  credentials: z.array(jobCredentialSchema).readonly(),
  /** Variables that the agent's config sets for its commands and hooks. */
  env: z.record(z.string(), z.string()).optional(),
  hooks: z.object({ pre: z.array(z.string()).readonly(), post: z.array(z.string()).readonly() }),
  timeoutSeconds: z.number(),
  /** The agent's MCP servers; `command` is null for one that the scheduler calls. */
  mcp: z
    .array(
      z.object({
        name: z.string(),
        command: z.array(z.string()).readonly().nullable(),
        tools: z.array(z.string()).readonly(),
        timeoutSeconds: z.number(),
      }),
    )
    .readonly()
    .optional(),
  /** The agent's `[expect].schema`: the run checks the value that it returns. */
  valueSchema: z.object({ file: z.string(), text: z.string() }).optional(),
  /** The `prompt` of the schedule that started the run; absent without one. */
  schedulePrompt: z.string().optional(),
  trigger: z.custom<Trigger>((value) => typeof value === "object" && value !== null),
  /** The run's span, for the traces of its commands; absent without `[telemetry]`. */
  traceparent: z.string().optional(),
  /** The run whose session it continues; absent for a new session. */
  continues: z
    .object({
      instanceId: z.string(),
      /** ISO 8601 UTC; null if that is not known. */
      endedAt: z.string().nullable(),
      /** With the reason. */
      outcome: z.string(),
      /** Name of the model that it ended with; null if that is not known. */
      model: z.string().nullable(),
      /** The session key that both have; null without one. */
      key: z.string().nullable(),
      /** The last run of the key, if that left no session; else null. */
      lost: z.object({ instanceId: z.string(), outcome: z.string() }).nullable(),
    })
    .optional(),
  /** Tokens above which its session is compacted; absent for the harness's own limit. */
  sessionTokens: z.number().optional(),
  /** The webhook's whole body, for the agent to read from a file; null for other triggers. */
  payload: z.string().nullable(),
  /** For gathered deliveries: their number and, if the run gets all of them, their events and payloads as JSON. */
  gathered: z.object({ count: z.number(), deliveries: z.string().nullable() }).optional(),
  /** Absent without trees: such a run makes no request for files. */
  trees: z.array(jobTreeSchema).readonly().optional(),
  /** The memories among the trees; absent without any. */
  memory: z.array(jobMemorySchema).readonly().optional(),
  /** The checkout that the run makes of the tree `workspace`, below its working directory; absent without one. */
  workspace: z.object({ dir: z.string(), maxBytes: z.number() }).optional(),
  /** The run's own working directory: absolute, empty, owned by its user. */
  workDir: z.string(),
  /** How the run reaches the network; absent if that is open, needs no proxy and trusts only Node's own certificates. */
  network: jobNetworkSchema.optional(),
  /** How the run reaches the scheduler; null for not at all. */
  channel: z
    .object({
      /** Path of the run's own socket, as the run sees it. */
      socket: z.string(),
      /** Secret: its holder can make requests in the run's name. */
      token: z.string(),
    })
    .nullable(),
});
export type Job = z.infer<typeof jobSchema>;
