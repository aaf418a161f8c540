import { setTimeout as wait } from "node:timers/promises";
import { distinctUntilChanged, ignoreElements, map, merge, Observable, of, switchMap } from "rxjs";
import type { AlertOptions, AlertTarget } from "../../../../streams/alert-options.ts";
import { createSendRequest } from "../../../foundation/contracts/outgoing-request.ts";
import { answerText } from "../../../foundation/contracts/questions.ts";
import type { Answer, Person, Question } from "../../../foundation/contracts/questions.ts";
import { rateLimitedWarnings } from "../../../foundation/contracts/rate-limited-warnings.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { answerButtons } from "../answer-buttons.ts";
import { cut, oneLine, requiredField, type Fields } from "../target.ts";
import { ChatError } from "./chat-api.ts";
import type { Press, PressResult, Receiver, ReceiverDeps } from "./chat-api.ts";
import { receiveFromSlack } from "./slack-socket.ts";
import { createTelegramPoll, pollSeconds } from "./telegram-poll.ts";

export interface ChatsDeps {
  /** The targets of the active config. */
  readonly targets: () => readonly AlertTarget[];
  /** Emits when targets changed. */
  readonly changed$: Observable<unknown>;
  readonly optionsOf: (agent: string) => AlertOptions;
  readonly credential: (reference: string) => Promise<Fields>;
  readonly find: (id: string) => Question | null;
  /** Rejects with Problem, which says who was first. */
  readonly answer: (id: string, answer: Answer, by: Person) => Promise<unknown>;
  readonly proxyEnv: NodeJS.ProcessEnv;
  readonly note: (message: string) => void;
  readonly warn: (message: string) => void;
  /** The first wait after a failure, in ms; each further one is twice as long. */
  readonly firstWaitMs?: number;
}

const maxWaitMs = 300_000;
/** The updates of a poll have whole messages. */
const maxBytes = 1024 * 1024;

/** The chats with buttons: how presses are received, and the field of the credential that identifies the receiver. */
const chats = {
  slack: { name: "Slack", field: "app_token", create: (): Receiver => receiveFromSlack },
  telegram: { name: "Telegram", field: "token", create: createTelegramPoll },
} as const;
type Chat = keyof typeof chats;

/** Receives answers by the buttons of Slack and Telegram, over connections that this machine opens, while it is subscribed. */
export function createChats(deps: ChatsDeps): Observable<never> {
  const press = createPress(deps);
  const listened = (): string =>
    [...new Set(answering(deps.targets()).map(({ type, credential }) => `${type} ${credential}`))]
      .sort()
      .join();
  return merge(of(null), deps.changed$).pipe(
    map(listened),
    distinctUntilChanged(),
    switchMap((places) => {
      const taken = new Set<string>();
      const each = places === "" ? [] : places.split(",");
      return merge(
        ...each.map((place) => {
          const [type = "", reference = ""] = place.split(" ");
          return new Observable<never>(() => {
            const stop = new AbortController();
            void listen(deps, { type: type as Chat, reference, press, taken }, stop.signal);
            return () => stop.abort();
          });
        }),
      );
    }),
    ignoreElements(),
  );
}

function answering(targets: readonly AlertTarget[]): readonly AlertTarget[] {
  return targets.filter(({ type, answers }) => Object.hasOwn(chats, type) && answers.length > 0);
}

interface Place {
  readonly type: Chat;
  /** Names the credential, such as `slack:team`. */
  readonly reference: string;
  readonly press: ReceiverDeps["press"];
  /** Tokens that are in use: a bot has one receiver. */
  readonly taken: Set<string>;
}

/** Receives until the signal aborts; waits longer after each failure. The credential is read before each turn. */
async function listen(deps: ChatsDeps, place: Place, signal: AbortSignal): Promise<void> {
  const { firstWaitMs = 1_000 } = deps;
  const { name, field, create } = chats[place.type];
  const timeoutMs = (pollSeconds + 15) * 1000;
  const sendRequest = createSendRequest({ proxyEnv: deps.proxyEnv, timeoutMs, maxBytes });
  const warn = rateLimitedWarnings(deps.warn, Date.now);
  const receive = create();
  let [failures, problem] = [0, ""];
  const onReady = (): void => {
    if (problem !== "") deps.note(`answers via ${name} are received again`);
    [failures, problem] = [0, ""];
  };
  const isStopped = (): boolean => signal.aborted;
  while (!isStopped()) {
    let waitMs = place.type === "slack" ? firstWaitMs : 0;
    try {
      const fields = await deps.credential(place.reference);
      await withToken(place.taken, requiredField(fields, field), () =>
        receive({
          fields,
          sendRequest,
          proxyEnv: deps.proxyEnv,
          press: place.press,
          onReady,
          warn: (message) => warn("response", message),
          signal,
        }),
      );
    } catch (error) {
      const reason = messageOf(error);
      if (!isStopped() && reason !== problem)
        deps.warn(`answers via ${name} (${place.reference}): ${reason}`);
      problem = reason;
      const asked = error instanceof ChatError ? error.afterMs : 0;
      waitMs = Math.max(Math.min(firstWaitMs * 2 ** failures++, maxWaitMs), asked);
    }
    await wait(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

async function withToken(
  taken: Set<string>,
  token: string,
  receive: () => Promise<void>,
): Promise<void> {
  if (taken.has(token)) throw new Error("another credential has the same token, and receives them");
  taken.add(token);
  try {
    await receive();
  } finally {
    taken.delete(token);
  }
}

/** Answers by a press, if the person is in `answers` of a target that the agent's alerts go to. */
function createPress(deps: ChatsDeps): ReceiverDeps["press"] {
  const warn = rateLimitedWarnings(deps.warn, Date.now);
  return async ({ via, userId, userName, data }: Press): Promise<PressResult> => {
    const [id = "", index = ""] = data.split(":");
    const question = deps.find(id);
    if (question === null) return refused("This question is no longer known.");
    const person = `${cut(oneLine(userName), 60)} (${userId})`;
    const { to } = deps.optionsOf(question.agent);
    const mayAnswer = answering(deps.targets()).some(
      ({ type, name, answers }) =>
        type === via && answers.includes(userId) && (to?.includes(name) ?? true),
    );
    if (!mayAnswer) {
      warn(via, `${person} may not answer a question of ${question.agent} via ${chats[via].name}`);
      return refused(`You may not answer: no [alerts] has your ID ${userId} in its answers.`);
    }
    const button = answerButtons(question)[Number(index)];
    if (button === undefined) return refused("This button is no longer known.");
    try {
      await deps.answer(id, button.answer, { via, name: person, from: null });
      const text = `You answered: ${answerText(question.kind, button.answer)}`;
      return { isAnswered: true, text };
    } catch (error) {
      return refused(messageOf(error));
    }
  };
}

function refused(text: string): PressResult {
  return { isAnswered: false, text };
}
