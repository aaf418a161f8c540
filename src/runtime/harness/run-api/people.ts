import { setTimeout as wait } from "node:timers/promises";
import { Problem } from "../../../foundation/errors.ts";
import type { RequestAnswer } from "../../wire/protocol.ts";
import type { RunMessage } from "../../wire/run-messages.ts";
import type { RunApiClient } from "./client.ts";

export type PersonMessage = RequestAnswer<"inbox">["messages"][number];
type OnMessage = (message: PersonMessage) => void;

/** How long the client waits after a failed request for messages, in ms. */
const pauseMs = 5_000;
/** How long a run waits for its last messages, in ms. */
const lastMs = 2_000;

/** Receives messages to a run. A null `client` receives none. */
export function createPeople(
  client: RunApiClient | null,
  redact: (value: unknown) => unknown,
  emit: (message: RunMessage) => void,
) {
  let after = 0;
  const receive = (messages: readonly PersonMessage[], onMessage: OnMessage): void => {
    const added = messages.filter(({ seq }) => seq > after);
    after = added.at(-1)?.seq ?? after;
    for (const message of added) {
      emit(logOf(message));
      onMessage(message);
    }
  };
  return {
    /** Logs each message and calls for it once, in their order, until the signal aborts. Never rejects. */
    follow: async (onMessage: OnMessage, signal: AbortSignal) => {
      while (client !== null && !signal.aborted) {
        try {
          receive((await client.ask("inbox", { after }, signal)).messages, onMessage);
        } catch (error) {
          if (isFinal(error)) return;
          await wait(pauseMs, undefined, { signal }).catch(() => undefined);
        }
      }
    },
    /**
     * Receives the messages that have come, and resolves to whether there were any. If not, people can send no more.
     * Never rejects.
     */
    last: async (onMessage: OnMessage): Promise<boolean> => {
      const asked = client?.ask("inbox", { after, isLast: true }, AbortSignal.timeout(lastMs));
      const messages = (await asked?.catch(() => null))?.messages ?? [];
      receive(messages, onMessage);
      return messages.length > 0;
    },
    /** Reports that the session has ended, however it did: people can send no more. Never rejects. */
    end: async (signal: AbortSignal): Promise<void> => {
      await client?.ask("session-end", {}, signal).catch(() => undefined);
    },
    /** Removes the job's secrets from a JSON-like value. */
    redact,
  };
}

export type People = ReturnType<typeof createPeople>;

function logOf({ kind, text, by }: PersonMessage): RunMessage {
  const texts = {
    stop: "stop after this turn",
    delivery: "a delivery of its session key",
    steer: text,
  };
  return {
    type: "log",
    kind: "steer",
    level: 30,
    time: Date.now(),
    msg: texts[kind],
    fields: { by },
  };
}

/** Whether repeating the request can't help, as the run is over. */
function isFinal(error: unknown): boolean {
  const code = error instanceof Problem ? error.code : "malformed";
  return code !== "unavailable" && code !== "too_many_requests";
}
