import { createServer } from "node:http";
import type { Socket } from "node:net";
import { onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import type { ServerSocket } from "ws";
import { z } from "zod";

type Json = Readonly<Record<string, unknown>>;
interface Call {
  readonly method: string;
  readonly body: Json;
}
interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json: Json;
}

export const botToken = "xoxb-17653672481-19874698323";
export const appToken = "xapp-1-A0123-456-abcdef0123456789";
export const telegramToken = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

const button = z.strictObject({
  type: z.literal("button"),
  text: z.strictObject({
    type: z.literal("plain_text"),
    text: z.string().min(1).max(75),
    emoji: z.boolean(),
  }),
  action_id: z.string().min(1).max(255),
  value: z.string().max(2000),
});
const blocks = z
  .array(
    z.looseObject({
      type: z.enum(["header", "rich_text", "actions"]),
      elements: z.unknown().optional(),
    }),
  )
  .max(50)
  .refine((all) =>
    all.every(
      ({ type, elements }) =>
        type !== "actions" || z.array(button).min(1).max(25).safeParse(elements).success,
    ),
  );
const shown = z.looseObject({ channel: z.string(), text: z.string().min(1), blocks });
const ephemeral = z.strictObject({
  channel: z.literal("C0OPS00001"),
  user: z.string().regex(/^[UW]/),
  text: z.string().min(1),
});
const keyboard = z.strictObject({
  inline_keyboard: z.array(
    z.array(
      z.strictObject({
        text: z.string().min(1),
        callback_data: z.string().refine((data) => Buffer.byteLength(data) <= 64),
      }),
    ),
  ),
});

/** A server of JSON calls; `answer` is given the path and the parsed body. */
async function jsonServer(
  answer: (call: Call & { readonly token: string }) => Promise<Refusal | Json> | Refusal | Json,
) {
  const calls: Call[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      void (async () => {
        const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Json;
        const method = (request.url ?? "").split("/").at(-1) ?? "";
        calls.push({ method, body });
        const token = `${request.url?.split("/")[1]} ${request.headers.authorization ?? ""}`;
        const given = await answer({ method, body, token });
        const isRefusal = typeof given.status === "number";
        const { status, headers, json } = isRefusal
          ? (given as unknown as Refusal)
          : { status: 200, headers: {}, json: given };
        response.writeHead(status, headers).end(JSON.stringify(json));
      })();
    });
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { port: number };
  return { server, port, calls, base: `http://127.0.0.1:${port}` };
}

/** Slack's Web API and Socket Mode, as docs.slack.dev describes them; `refuse` replaces the next responses. */
export async function fakeSlack() {
  const open: ServerSocket[] = [];
  const acks: string[] = [];
  const refuse: Refusal[] = [];
  const messages = new Map<string, Json>();
  const no = (error: string): Json => ({ ok: false, error });
  const post = (body: Json): Json => {
    const ts = `${1795356300 + messages.size}.000100`;
    messages.set(ts, body);
    return { ok: true, channel: "C0OPS00001", ts };
  };
  const update = (body: Json): Json => {
    const isKnown = body.channel === "C0OPS00001" && messages.has(String(body.ts));
    if (!isKnown) return no("message_not_found");
    messages.set(String(body.ts), body);
    return { ok: true, channel: body.channel, ts: body.ts };
  };
  const methods: Readonly<Record<string, (body: Json) => Json>> = {
    "apps.connections.open": () => ({
      ok: true,
      url: `ws://127.0.0.1:${api.port}/link?ticket=t1cket-s3cret`,
    }),
    "chat.postEphemeral": (body) =>
      ephemeral.safeParse(body).success ? { ok: true, message_ts: "1" } : no("invalid_arguments"),
    "chat.postMessage": (body) =>
      shown.safeParse(body).success ? post(body) : no("invalid_blocks"),
    "chat.update": (body) => (shown.safeParse(body).success ? update(body) : no("invalid_blocks")),
  };
  const api = await jsonServer(({ method, body, token }) => {
    const refusal = refuse.shift();
    if (refusal !== undefined) return refusal;
    const wanted = method === "apps.connections.open" ? appToken : botToken;
    if (!token.endsWith(`Bearer ${wanted}`)) return no("not_allowed_token_type");
    return methods[method]?.(body) ?? no("unknown_method");
  });
  const sockets = new WebSocketServer({ server: api.server });
  onTestFinished(() => sockets.close());
  sockets.on("connection", (socket) => {
    open.push(socket);
    socket.on("message", (data) =>
      acks.push((JSON.parse(data.toString()) as { envelope_id: string }).envelope_id),
    );
    socket.send(JSON.stringify({ type: "hello", num_connections: open.length }));
  });
  return {
    ...api,
    open,
    acks,
    refuse,
    messages,
    fields: { bot_token: botToken, app_token: appToken, channel: "#ops", url: api.base },
    press: (value: string, user: string, envelope: string, socket = open.at(-1)): void =>
      socket?.send(
        JSON.stringify({
          type: "interactive",
          envelope_id: envelope,
          accepts_response_payload: false,
          payload: {
            type: "block_actions",
            user: { id: user, username: "ada", name: "ada", team_id: "T1" },
            channel: { id: "C0OPS00001", name: "ops" },
            container: { type: "message", message_ts: "1" },
            actions: [{ type: "button", action_id: value, block_id: "b", value }],
          },
        }),
      ),
  };
}

/** Telegram's Bot API, as core.telegram.org/bots/api describes it. */
export async function fakeTelegram() {
  const updates: Json[] = [];
  const refuse: Refusal[] = [];
  let [confirmed, messageId] = [0, 0];
  let wake: () => void = () => undefined;
  const bad = (status: number, description: string): Refusal => ({
    status,
    json: { ok: false, error_code: status, description },
  });
  const messages = new Map<number, Json>();
  const callbacks = new Set<string>();
  const put = (method: string, body: Json): Refusal | Json => {
    if (body.reply_markup !== undefined && !keyboard.safeParse(body.reply_markup).success)
      return bad(400, "Bad Request: BUTTON_DATA_INVALID");
    const id = method === "sendMessage" ? ++messageId : Number(body.message_id);
    if (id > messageId || String(body.chat_id) !== "-1001")
      return bad(400, "Bad Request: message to edit not found");
    messages.set(id, body);
    return { ok: true, result: { message_id: id, chat: { id: -1001 } } };
  };
  const poll = async ({ offset = 0, limit }: Json): Promise<Json> => {
    confirmed = Math.max(confirmed, Number(offset));
    const waiting = () => updates.filter(({ update_id: id }) => Number(id) >= confirmed);
    if (waiting().length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return { ok: true, result: waiting().slice(0, Number(limit)) };
  };
  const respond = (body: Json): Refusal | Json => {
    const isKnown = callbacks.delete(String(body.callback_query_id));
    return isKnown && String(body.text).length <= 200
      ? { ok: true, result: true }
      : bad(
          400,
          "Bad Request: query is too old and response timeout expired or query ID is invalid",
        );
  };
  const api = await jsonServer(({ method, body, token }) => {
    if (!token.startsWith(`bot${telegramToken} `)) return bad(401, "Unauthorized");
    const refusal = refuse.shift();
    if (refusal !== undefined) return refusal;
    if (method === "getUpdates") return poll(body);
    return method === "answerCallbackQuery" ? respond(body) : put(method, body);
  });
  return {
    ...api,
    refuse,
    messages,
    fields: { token: telegramToken, chat: "-1001", url: api.base },
    confirmed: () => confirmed,
    press: (data: string, user: number, id: string): void => {
      callbacks.add(id);
      const from = { id: user, is_bot: false, first_name: "Ada" };
      updates.push({ update_id: updates.length + 7, callback_query: { id, from, data } });
      wake();
    },
  };
}
