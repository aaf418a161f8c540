import { Webhook } from "standardwebhooks";
import { z } from "zod";
import type { AlertTargetType } from "../../../streams/alert-options.ts";
import type { Fields } from "../../../src/features/alerts/target.ts";

/** A request as a target gets it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An API as its own pages describe it: it takes what the real one takes, and refuses in its words. */
export interface FakeApi {
  /** For a server at `base`, such as `http://127.0.0.1:4000`. */
  readonly fields: (base: string) => Fields;
  readonly answer: (request: Received) => Reply;
}

export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
export const telegramToken = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

const json = (status: number, value: unknown): Reply => ({ status, body: JSON.stringify(value) });

/** The reason to reject a body; null for a good one. */
function refusal(schema: z.ZodType, { headers, text }: Received): string | null {
  if (headers["content-type"] !== "application/json") return "content type";
  const { success, error } = schema.safeParse(JSON.parse(text));
  return success ? null : z.prettifyError(error);
}

/** In mrkdwn a bare `<` begins a link or a mention; only links of this form are meant. */
const mrkdwn = z
  .string()
  .min(1)
  .max(3000)
  .refine((text) => !/[<>]/.test(text.replaceAll(/<https?:\/\/[^<>|]+\|[^<>|]+>/g, "")))
  .refine((text) => !/&(?!(amp|lt|gt);)/.test(text));
const slackBlock = z.union([
  z.strictObject({
    type: z.literal("header"),
    text: z.strictObject({
      type: z.literal("plain_text"),
      text: z.string().min(1).max(150),
      emoji: z.boolean(),
    }),
  }),
  z.strictObject({
    type: z.literal("rich_text"),
    elements: z.array(
      z.strictObject({
        type: z.literal("rich_text_section"),
        elements: z.array(
          z.union([
            z.strictObject({
              type: z.literal("text"),
              text: z.string().min(1).max(3000),
              style: z.strictObject({ bold: z.boolean() }).optional(),
            }),
            z.strictObject({ type: z.literal("link"), url: z.url(), text: z.string().min(1) }),
          ]),
        ),
      }),
    ),
  }),
]);
const slackBody = z.strictObject({
  text: mrkdwn,
  blocks: z.array(slackBlock).max(50),
  mrkdwn: z.literal(false),
  unfurl_links: z.boolean(),
  unfurl_media: z.boolean(),
});

/** Nothing of it may be read as Markdown, but what is bold on purpose. */
const discordText = z
  .string()
  .refine((text) => !/(?<!\\)[`*_~|>#[\]()<@:]/.test(unescapedAway(text)), "Markdown");
const unescapedAway = (text: string): string =>
  text.replaceAll(/\\[^0-9A-Za-z\s]/g, "").replaceAll(/^\*\*\w+\*\* /gm, "");
const discordBody = z.strictObject({
  embeds: z
    .array(
      z.strictObject({
        title: discordText.max(256),
        url: z.url().optional(),
        description: discordText.max(4096),
        color: z.int().max(0xffffff),
        timestamp: z.iso.datetime(),
      }),
    )
    .max(10)
    .refine((embeds) => JSON.stringify(embeds).length < 6000, "more than 6000 characters"),
  allowed_mentions: z.strictObject({ parse: z.tuple([]) }),
});

const textRun = z.strictObject({
  type: z.literal("TextRun"),
  text: z.string().min(1),
  size: z.enum(["Medium"]).optional(),
  weight: z.enum(["Bolder"]).optional(),
  color: z.enum(["Attention", "Warning", "Good"]).optional(),
});
const teamsBody = z.strictObject({
  type: z.literal("message"),
  attachments: z
    .array(
      z.strictObject({
        contentType: z.literal("application/vnd.microsoft.card.adaptive"),
        content: z.strictObject({
          $schema: z.literal("http://adaptivecards.io/schemas/adaptive-card.json"),
          type: z.literal("AdaptiveCard"),
          version: z.literal("1.4"),
          fallbackText: z.string(),
          body: z.array(
            z.strictObject({ type: z.literal("RichTextBlock"), inlines: z.array(textRun).min(1) }),
          ),
          actions: z
            .array(
              z.strictObject({
                type: z.literal("Action.OpenUrl"),
                title: z.string(),
                url: z.url(),
              }),
            )
            .optional(),
        }),
      }),
    )
    .length(1),
});

const telegramBody = z
  .strictObject({
    chat_id: z.string(),
    text: z.string().min(1).max(4096),
    entities: z.array(
      z.strictObject({ type: z.literal("bold"), offset: z.int().min(0), length: z.int().min(1) }),
    ),
    link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
  })
  .refine(({ text, entities }) => entities.every((one) => one.offset + one.length <= text.length))
  .refine(({ text }) => !/@\w/.test(text), "it mentions people");

const ntfyBody = z.strictObject({
  topic: z.literal("my-topic"),
  title: z.string(),
  message: z.string().refine((text) => Buffer.byteLength(text) <= 4096),
  priority: z.int().min(1).max(5),
  tags: z.array(z.string()),
  click: z.url().optional(),
  actions: z
    .array(
      z.discriminatedUnion("action", [
        z.strictObject({ action: z.literal("view"), label: z.string().min(1), url: z.url() }),
        z.strictObject({
          action: z.literal("http"),
          label: z.string().min(1),
          url: z.url(),
          method: z.enum(["GET", "POST", "PUT"]),
          headers: z.record(z.string(), z.string()),
          body: z.string(),
          clear: z.boolean(),
        }),
      ]),
    )
    .max(3)
    .optional(),
});

/** Each API that takes alerts by HTTP. */
export const fakeApis: Readonly<Record<Exclude<AlertTargetType, "email">, FakeApi>> = {
  slack: {
    fields: (base) => ({ url: `${base}/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX` }),
    answer: (request) => {
      if (!request.path.endsWith("/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"))
        return { status: 404, body: "no_service" };
      const why = refusal(slackBody, request);
      return why === null
        ? { status: 200, body: "ok" }
        : { status: 400, body: `invalid_blocks ${why}` };
    },
  },
  discord: {
    fields: (base) => ({
      url: `${base}/api/webhooks/223704706495545344/3d89bb7572e0fb30d8128367b`,
    }),
    answer: (request) => {
      const why = refusal(discordBody, request);
      return why === null
        ? { status: 204 }
        : json(400, { code: 50035, message: `Invalid Form Body: ${why}` });
    },
  },
  teams: {
    fields: (base) => ({
      url: `${base}/workflows/abc123/triggers/manual/paths/invoke?sig=s3cr3tsig`,
    }),
    answer: (request) => {
      if (Buffer.byteLength(request.text) > 28_000) return { status: 413 };
      const why = refusal(teamsBody, request);
      return why === null
        ? { status: 202 }
        : json(400, { error: { code: "InvalidRequestContent", message: why } });
    },
  },
  telegram: {
    fields: (base) => ({ url: base, token: telegramToken, chat: "-1001234567890" }),
    answer: (request) => {
      if (request.path !== `/bot${telegramToken}/sendMessage`)
        return json(404, { ok: false, error_code: 404, description: "Not Found" });
      const why = refusal(telegramBody, request);
      return why === null
        ? json(200, { ok: true, result: { message_id: 1 } })
        : json(400, { ok: false, error_code: 400, description: `Bad Request: ${why}` });
    },
  },
  ntfy: {
    fields: (base) => ({ url: `${base}/my-topic`, token: "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2" }),
    answer: (request) => {
      if (request.headers.authorization !== "Bearer tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2")
        return json(403, { code: 40301, http: 403, error: "forbidden" });
      // Twice the message's limit: github.com/binwiederhier/ntfy, server/server.go.
      if (Buffer.byteLength(request.text) > 8192)
        return json(413, { code: 41303, http: 413, error: "JSON body too large" });
      const why = request.path === "/" ? refusal(ntfyBody, request) : "path";
      return why === null
        ? json(200, { id: "hwQ2YpKdmg", event: "message", topic: "my-topic" })
        : json(400, { code: 40024, http: 400, error: `invalid request: ${why}` });
    },
  },
  webhook: {
    fields: (base) => ({ url: `${base}/alerts?from=almanac`, secret: webhookSecret }),
    answer: ({ text, headers }) => {
      const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": proof } = headers;
      const signed = {
        "webhook-id": String(id),
        "webhook-timestamp": String(time),
        "webhook-signature": String(proof),
      };
      try {
        new Webhook(webhookSecret).verify(text, signed);
        return { status: 200 };
      } catch (error) {
        return { status: 401, body: String(error) };
      }
    },
  },
};
