import { WebSocketServer, type ServerSocket } from "ws";
import { z } from "zod";
import { plainText, slackTexts, text, typed } from "../fake-apis.ts";
import { jsonServer, type Json, type Refusal } from "./json-server.ts";

export const botToken = "xoxb-17653672481-19874698323";
export const appToken = "xapp-1-A0123-456-abcdef0123456789";

/** https://docs.slack.dev/reference/block-kit/blocks/actions-block: each `action_id` is unique. */
const actions = typed("actions", {
  elements: z
    .array(
      typed("button", { text: plainText(75), action_id: text(255), value: z.string().max(2000) }),
    )
    .min(1)
    .max(25)
    .refine((all) => new Set(all.map((one) => one.action_id)).size === all.length),
});
const blocks = z.array(z.discriminatedUnion("type", [...slackTexts, actions])).max(50);
/** https://docs.slack.dev/reference/methods/chat.postMessage, chat.update: the text of an update has a limit. */
const posted = z.looseObject({ channel: z.literal("#ops"), text: z.string().min(1), blocks });
const updated = posted.extend({
  channel: z.literal("C0OPS00001"),
  ts: z.string(),
  text: text(4000),
});
/** https://docs.slack.dev/reference/methods/chat.postEphemeral */
const ephemeral = z.strictObject({
  channel: z.literal("C0OPS00001"),
  user: z.string().regex(/^[UW]/),
  text: z.string().min(1),
});

/** How long Slack waits for an acknowledgement, in ms. */
const ackMs = 3_000;

/**
 * Slack's Web API and Socket Mode, as docs.slack.dev/apis/events-api/using-socket-mode describes them: a ticket opens one
 * connection, an acknowledgement after 3 s does not count. `refuse` replaces the next responses.
 */
export async function fakeSlack() {
  const open: ServerSocket[] = [];
  const acks: string[] = [];
  const refuse: Refusal[] = [];
  const messages = new Map<string, Json>();
  const tickets = new Set<string>();
  /** When each envelope was sent. */
  const sent = new Map<string, number>();
  const no = (error: string): Json => ({ ok: false, error });
  const post = (body: Json): Json => {
    const ts = `${1795356300 + messages.size}.000100`;
    messages.set(ts, body);
    return { ok: true, channel: "C0OPS00001", ts };
  };
  const update = (body: Json): Json => {
    if (!messages.has(String(body.ts))) return no("message_not_found");
    messages.set(String(body.ts), body);
    return { ok: true, channel: body.channel, ts: body.ts };
  };
  const connect = (): Json => {
    const path = `/link/?ticket=t1cket-s3cret-${Math.random()}&app_id=A0123`;
    tickets.add(path);
    return { ok: true, url: `ws://127.0.0.1:${api.port}${path}` };
  };
  const methods: Readonly<Record<string, (body: Json) => Json>> = {
    "apps.connections.open": connect,
    "chat.postEphemeral": (body) =>
      ephemeral.safeParse(body).success ? { ok: true, message_ts: "1" } : no("invalid_arguments"),
    "chat.postMessage": (body) =>
      posted.safeParse(body).success ? post(body) : no("invalid_blocks"),
    "chat.update": (body) =>
      updated.safeParse(body).success ? update(body) : no("invalid_blocks"),
  };
  const api = await jsonServer(({ method, body, token }) => {
    const refusal = refuse.shift();
    if (refusal !== undefined) return refusal;
    const given = token.split("Bearer ")[1] ?? "";
    if (![appToken, botToken].includes(given)) return no("invalid_auth");
    const wanted = method === "apps.connections.open" ? appToken : botToken;
    if (given !== wanted) return no("not_allowed_token_type");
    return methods[method]?.(body) ?? no("unknown_method");
  });
  const verifyClient = ({ req }: { req: { url?: string | undefined } }) =>
    tickets.delete(req.url ?? "");
  const sockets = new WebSocketServer({ server: api.server, verifyClient });
  onTestFinished(() => sockets.close());
  sockets.on("connection", (socket) => {
    const say = (message: Json) => socket.send(JSON.stringify(message));
    open.push(socket);
    socket.on("message", (data) => {
      const { envelope_id: id } = JSON.parse(data.toString()) as { envelope_id: string };
      if (Date.now() - (sent.get(id) ?? 0) < ackMs) acks.push(id);
    });
    const connection_info = { app_id: "A0123" };
    say({ type: "hello", connection_info, num_connections: sockets.clients.size });
  });
  return {
    ...api,
    open,
    acks,
    refuse,
    messages,
    fields: { bot_token: botToken, app_token: appToken, channel: "#ops", url: api.base },
    /** A press on a button, in the envelopes e1, e2 and so on. */
    press: (value: string, user = "U0ADA", socket = open.at(-1)) => {
      const envelope = `e${sent.size + 1}`;
      sent.set(envelope, Date.now());
      const payload = pressOf(value, user);
      const of = { type: "interactive", envelope_id: envelope, accepts_response_payload: false };
      socket?.send(JSON.stringify({ ...of, payload }));
    },
  };
}

/** https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
const pressOf = (value: string, user: string): Json => ({
  type: "block_actions",
  user: { id: user, username: "ada", name: "ada", team_id: "T1" },
  api_app_id: "A0123",
  container: { type: "message", message_ts: "1", channel_id: "C0OPS00001", is_ephemeral: false },
  channel: { id: "C0OPS00001", name: "ops" },
  actions: [{ type: "button", action_id: value, block_id: "b", value }],
});
