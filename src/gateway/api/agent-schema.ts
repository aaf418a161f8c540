import { z } from "zod";
import { modelApis, providers, thinkingLevels } from "../../../streams/agent-config.ts";
import type { AgentConfig, ModelConfig } from "../../../streams/agent-config.ts";
import { harnessTypes } from "../../../streams/harnesses.ts";
import { runtimeTypes } from "../../../streams/runtimes.ts";
import { describing } from "./describing.ts";

const strings = z.array(z.string()).readonly();

const modelSchema = describing<ModelConfig>(
  z.object({
    name: z.string(),
    provider: z.enum(providers),
    model: z.string(),
    authType: z.enum(["api_key", "oauth_token", "none"]),
    thinkingLevel: z.enum(thinkingLevels).nullable(),
    baseUrl: z.string().nullable(),
    api: z.enum(modelApis).nullable(),
    contextWindow: z.int().nullable(),
    maxTokens: z.int().nullable(),
    headers: z
      .record(z.string(), z.string())
      .meta({ description: "Their names; each value is three asterisks" }),
    timeoutSeconds: z.int().nullable(),
    maxRetries: z.int().nullable(),
    credential: z.string().meta({ description: "Its name; never its value" }),
    script: z.string().nullable(),
  }),
);

const webhookSchema = z.object({
  source: z.string(),
  type: z.string(),
  filters: z.record(z.string(), z.union([z.string(), z.boolean(), strings])),
  where: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .exactOptional()
    .meta({ description: "Values that the payload must have, by dotted paths" }),
});

const configSchema = describing<AgentConfig>(
  z.object({
    name: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    license: z.string().nullable(),
    compatibility: z.string().nullable(),
    instructions: z.string(),
    source: z.string().nullable(),
    sourceCommit: z.string().nullable(),
    models: z.array(modelSchema).readonly(),
    harness: z.object({ type: z.enum(harnessTypes), command: z.string() }),
    credentials: strings,
    schedule: z.string().nullable(),
    timezone: z.string(),
    catchUp: z.enum(["none", "latest"]),
    callable: z.boolean().meta({ description: "It may do without schedule and webhooks" }),
    scale: z.int(),
    timeoutSeconds: z.number(),
    queueSize: z.int(),
    waitTimeoutSeconds: z.number(),
    webhooks: z.array(webhookSchema).readonly(),
    hooks: z.object({ pre: strings, post: strings }),
    params: z.record(z.string(), z.union([z.string(), strings])),
    runtime: z.object({ type: z.enum(runtimeTypes), runAs: z.string() }),
    local: z.object({
      memory: z.string().nullable(),
      cpus: z.number().nullable(),
      network: z.string().nullable(),
      env: z.record(z.string(), z.string()),
    }),
    dockerfileHash: z.string().nullable(),
  }),
).meta({ id: "AgentConfig" });

/** An agent in full, for its own page. */
export const agentDetailSchema = z
  .object({
    config: configSchema.nullable().meta({ description: "Null until there was a valid one" }),
    nextTicks: z.array(z.iso.datetime()).readonly(),
    scheduleText: z.string().nullable().meta({ description: "The schedule in words" }),
  })
  .meta({ id: "AgentDetail" });
