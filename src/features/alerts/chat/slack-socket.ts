import { subscribe, unsubscribe } from "node:diagnostics_channel";
import http from "node:http";
import { isPlainObject, jsonOf } from "../../../foundation/contracts/json-size.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { slackHeaders, slackMethod } from "../targets/slack-app.ts";
import { slackText } from "../targets/slack-message.ts";
import { callChat, type Receiver, type ReceiverDeps } from "./chat-api.ts";

type Json = Readonly<Record<string, unknown>>;

/** How long Slack may take to say hello, or between two pings, and how long a replaced connection stays open, in ms. */
const silentMs = 30_000;

/** Disconnects after which Slack refuses a new connection, too. */
const refusals: Readonly<Record<string, string>> = {
  link_disabled: "Socket Mode is switched off in the app",
  too_many_websockets: "the app has too many connections",
};

/**
 * Receives the presses of an app's buttons by Socket Mode. Resolves once Slack wants a new connection; the old one stays
 * until Slack closes it, so that no press is lost in between.
 * https://docs.slack.dev/apis/events-api/using-socket-mode; `too_many_websockets`: github.com/slackapi/node-slack-sdk/issues/1654
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
  deps.signal.addEventListener("abort", close);
  socket.addEventListener("close", () => deps.signal.removeEventListener("abort", close));
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(new Error(reason));
    const greeted = watchSilence(socket, () => {
      fail("Slack is silent");
      close();
    });
    socket.addEventListener("error", () => fail("the connection to Slack failed"));
    socket.addEventListener("close", () => fail("Slack closed the connection"));
    socket.addEventListener("message", ({ data }) => {
      const envelope = jsonOf(String(data));
      if (!isPlainObject(envelope)) return;
      const { type, reason, envelope_id: id } = envelope;
      // Within 3 s, or Slack shows an error beside the button: it does not wait for the store.
      if (typeof id === "string") socket.send(JSON.stringify({ envelope_id: id }));
      if (type === "hello") {
        greeted();
        deps.onReady();
      }
      if (type === "interactive" && isPlainObject(envelope.payload)) {
        void onInteraction(deps, envelope.payload);
      }
      if (type !== "disconnect") return;
      setTimeout(close, silentMs).unref();
      const refusal = refusals[String(reason)];
      if (refusal === undefined) resolve();
      else fail(refusal);
    });
  });
};

/** Node's WebSocket shows pings here alone: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
const pings = "undici:websocket:ping";

/**
 * Calls `lost` if no hello comes, or no ping after another one: a dead connection reports nothing. Returns the function to
 * call at the hello.
 */
function watchSilence(socket: WebSocket, lost: () => void): () => void {
  let timer = setTimeout(lost, silentMs);
  const onPing = (message: unknown): void => {
    if (!isPlainObject(message) || message.websocket !== socket) return;
    clearTimeout(timer);
    timer = setTimeout(lost, silentMs);
  };
  subscribe(pings, onPing);
  socket.addEventListener("close", () => {
    unsubscribe(pings, onPing);
    clearTimeout(timer);
  });
  return () => clearTimeout(timer);
}

/** The constructor reads the proxy, which other requests have of their own: it is set for that moment alone. */
function openSocket(url: string, proxyEnv: NodeJS.ProcessEnv): WebSocket {
  // Node 24.0 lacks the option, and connects directly.
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
    deps.warn(`Slack did not accept the response to a button: ${messageOf(error)}`);
  }
}
