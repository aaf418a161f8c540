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

/** Accepts a good body, and refuses others with the reason. */
function checked(
  schema: z.ZodType,
  { headers, text: body }: Received,
  accepted: Reply,
  refused: (why: string) => Reply,
): Reply {
  if (headers["content-type"] !== "application/json") return refused("content type");
  const { success, error } = schema.safeParse(JSON.parse(body));
  return success ? accepted : refused(z.prettifyError(error));
}

export const text = (max: number) => z.string().min(1).max(max);

/** An object with this `type` and these fields. */
export const typed = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...shape });

export const plainText = (max: number) =>
  typed("plain_text", { text: text(max), emoji: z.boolean() });

const slackRun = z.union([
  typed("text", {
    text: text(3000),
    style: z.strictObject({ bold: z.boolean() }).optional(),
  }),
  typed("link", { url: z.url(), text: text(3000) }),
]);

/** https://docs.slack.dev/reference/block-kit/blocks */
export const slackTexts = [
  typed("header", { text: plainText(150) }),
  typed("rich_text", {
    elements: z.array(typed("rich_text_section", { elements: z.array(slackRun) })),
  }),
] as const;

const slackBody = z.strictObject({
  /** In mrkdwn a bare `<` begins a link or a mention; only links of this form are meant. */
  text: text(3000)
    .refine((given) => !/[<>]/.test(given.replaceAll(/<https?:\/\/[^<>|]+\|[^<>|]+>/g, "")))
    .refine((given) => !/&(?!(amp|lt|gt);)/.test(given)),
  blocks: z.array(z.discriminatedUnion("type", slackTexts)).max(50),
  mrkdwn: z.literal(false),
  unfurl_links: z.boolean(),
  unfurl_media: z.boolean(),
});

/** Nothing of it may be read as Markdown, but what is bold on purpose. */
const discordText = (max: number) =>
  z
    .string()
    .max(max)
    .refine((given) => !/(?<!\\)[`*_~|>#[\]()<@:]/.test(unescapedAway(given)), "Markdown");
const unescapedAway = (given: string) =>
  given.replaceAll(/\\[^0-9A-Za-z\s]/g, "").replaceAll(/^\*\*\w+\*\* /gm, "");
const discordBody = z.strictObject({
  embeds: z
    .array(
      z.strictObject({
        title: discordText(256),
        url: z.url().optional(),
        description: discordText(4096),
        color: z.int().max(0xffffff),
        timestamp: z.iso.datetime(),
      }),
    )
    .max(10)
    .refine((embeds) => JSON.stringify(embeds).length < 6000, "more than 6000 characters"),
  allowed_mentions: z.strictObject({ parse: z.tuple([]) }),
});

const textRun = typed("TextRun", {
  text: z.string().min(1),
  size: z.literal("Medium").optional(),
  weight: z.literal("Bolder").optional(),
  color: z.enum(["Attention", "Warning", "Good"]).optional(),
});
const teamsCard = typed("AdaptiveCard", {
  $schema: z.literal("http://adaptivecards.io/schemas/adaptive-card.json"),
  version: z.literal("1.4"),
  fallbackText: z.string(),
  body: z.array(typed("RichTextBlock", { inlines: z.array(textRun).min(1) })),
  actions: z.array(typed("Action.OpenUrl", { title: z.string(), url: z.url() })).optional(),
});
const teamsBody = typed("message", {
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal("application/vnd.microsoft.card.adaptive"),
      content: teamsCard,
    }),
  ]),
});

const telegramBody = z
  .strictObject({
    chat_id: z.string(),
    text: text(4096),
    entities: z.array(typed("bold", { offset: z.int().min(0), length: z.int().min(1) })),
    link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
  })
  .refine((one) => one.entities.every(({ offset, length }) => offset + length <= one.text.length))
  .refine((one) => !/@\w/.test(one.text), "it mentions people");

const ntfyAction = { label: z.string().min(1), url: z.url() };
const ntfyBody = z.strictObject({
  topic: z.literal("my-topic"),
  title: z.string(),
  message: z.string().refine((given) => Buffer.byteLength(given) <= 4096),
  priority: z.int().min(1).max(5),
  tags: z.array(z.string()),
  click: z.url().optional(),
  actions: z
    .array(
      z.discriminatedUnion("action", [
        z.strictObject({ action: z.literal("view"), ...ntfyAction }),
        z.strictObject({
          action: z.literal("http"),
          ...ntfyAction,
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
      return checked(slackBody, request, { status: 200, body: "ok" }, (why) => ({
        status: 400,
        body: `invalid_blocks ${why}`,
      }));
    },
  },
  discord: {
    fields: (base) => ({
      url: `${base}/api/webhooks/223704706495545344/3d89bb7572e0fb30d8128367b`,
    }),
    answer: (request) =>
      checked(discordBody, request, { status: 204 }, (why) =>
        json(400, { code: 50035, message: `Invalid Form Body: ${why}` }),
      ),
  },
  teams: {
    fields: (base) => ({
      url: `${base}/workflows/abc123/triggers/manual/paths/invoke?sig=s3cr3tsig`,
    }),
    answer: (request) => {
      if (Buffer.byteLength(request.text) > 28_000) return { status: 413 };
      return checked(teamsBody, request, { status: 202 }, (message) =>
        json(400, { error: { code: "InvalidRequestContent", message } }),
      );
    },
  },
  telegram: {
    fields: (base) => ({ url: base, token: telegramToken, chat: "-1001234567890" }),
    answer: (request) => {
      if (request.path !== `/bot${telegramToken}/sendMessage`)
        return json(404, { ok: false, error_code: 404, description: "Not Found" });
      const accepted = json(200, { ok: true, result: { message_id: 1 } });
      return checked(telegramBody, request, accepted, (why) =>
        json(400, { ok: false, error_code: 400, description: `Bad Request: ${why}` }),
      );
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
      const refused = (why: string): Reply =>
        json(400, { code: 40024, http: 400, error: `invalid request: ${why}` });
      if (request.path !== "/") return refused("path");
      const accepted = json(200, { id: "hwQ2YpKdmg", event: "message", topic: "my-topic" });
      return checked(ntfyBody, request, accepted, refused);
    },
  },
  webhook: {
    fields: (base) => ({ url: `${base}/alerts?from=almanac`, secret: webhookSecret }),
    answer: ({ text: body, headers }) => {
      try {
        new Webhook(webhookSecret).verify(body, headers as Record<string, string>);
        return { status: 200 };
      } catch (error) {
        return { status: 401, body: String(error) };
      }
    },
  },
};
