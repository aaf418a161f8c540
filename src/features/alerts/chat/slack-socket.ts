import http from "node:http";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { jsonOf } from "../http-target.ts";
import { slackHeaders, slackMethod } from "../targets/slack-app.ts";
import { slackText } from "../targets/slack-message.ts";
import { callChat } from "./chat-api.ts";
import type { Receiver, ReceiverDeps } from "./chat-api.ts";

type Json = Readonly<Record<string, unknown>>;

/** How long Slack may take to say hello, and a connection that is replaced stays open for its last presses, in ms. */
const helloMs = 30_000;

/**
 * Receives the presses of an app's buttons by Socket Mode. Resolves once Slack wants a new connection; the old one stays
 * until Slack closes it, so that no press is lost in between.
 * https://docs.slack.dev/apis/events-api/using-socket-mode
 */
export const receiveFromSlack: Receiver = async (deps) => {
  const { url } = await callChat(deps.sendRequest, {
    url: slackMethod(deps.fields, "apps.connections.open"),
    headers: slackHeaders(deps.fields, "app_token"),
    body: {},
    signal: deps.signal,
  });
  const socket = openSocket(String(url), deps.proxyEnv);
  const close = (): void => socket.close();
  const late = setTimeout(close, helloMs);
  deps.signal.addEventListener("abort", close);
  socket.addEventListener("close", () => {
    clearTimeout(late);
    deps.signal.removeEventListener("abort", close);
  });
  return new Promise((resolve, reject) => {
    socket.addEventListener("error", () => reject(new Error("the connection to Slack failed")));
    socket.addEventListener("close", () => reject(new Error("Slack closed the connection")));
    socket.addEventListener("message", ({ data }) => {
      const envelope = jsonOf(String(data));
      if (!isPlainObject(envelope)) return;
      const { type, reason, envelope_id: id } = envelope;
      // Within 3 s, or Slack shows an error beside the button: it does not wait for the store.
      if (typeof id === "string") socket.send(JSON.stringify({ envelope_id: id }));
      if (type === "hello") {
        clearTimeout(late);
        deps.onReady();
      }
      if (type === "interactive" && isPlainObject(envelope.payload)) {
        void onInteraction(deps, envelope.payload);
      }
      if (type !== "disconnect") return;
      setTimeout(close, helloMs).unref();
      if (reason === "link_disabled") reject(new Error("Socket Mode is switched off in the app"));
      else resolve();
    });
  });
};

/** The constructor reads the proxy, which other requests have of their own: it is set for that moment alone. */
function openSocket(url: string, proxyEnv: NodeJS.ProcessEnv): WebSocket {
  // Node 24.0 does not have it, and connects directly.
  const restore = "setGlobalProxyFromEnv" in http ? http.setGlobalProxyFromEnv(proxyEnv) : null;
  try {
    return new WebSocket(url);
  } finally {
    restore?.();
  }
}

/** https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
async function onInteraction(deps: ReceiverDeps, { type, user, channel, actions }: Json) {
  if (type !== "block_actions" || !isPlainObject(user) || !Array.isArray(actions)) return;
  const [action] = actions.filter(isPlainObject);
  const { id: userId, username, name } = user;
  if (typeof action?.value !== "string" || typeof userId !== "string") return;
  const userName = [username, name].find((one) => typeof one === "string") ?? "";
  const { isAnswered, text } = await deps.press({
    via: "slack",
    userId,
    userName,
    data: action.value,
  });
  // The message itself is edited then.
  if (isAnswered || !isPlainObject(channel)) return;
  try {
    // https://docs.slack.dev/reference/methods/chat.postEphemeral
    await callChat(deps.sendRequest, {
      url: slackMethod(deps.fields, "chat.postEphemeral"),
      headers: slackHeaders(deps.fields, "bot_token"),
      body: { channel: channel.id, user: userId, text: slackText(text) },
    });
  } catch (error) {
    deps.warn(`Slack did not take the response to a button: ${messageOf(error)}`);
  }
}
