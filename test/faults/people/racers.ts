import { DatabaseSync } from "node:sqlite";
import type { FakeTelegram } from "../../features/alerts/chat/fake-telegram.ts";
import { createAnswerLinks } from "../../../src/features/people/answer-links.ts";
import type { QuestionView } from "../../../src/foundation/contracts/question-views.ts";
import { pause } from "../../helpers/pause.ts";

export const choices = ["a", "b", "c"] as const;
export type Choice = (typeof choices)[number];

/** The acts of people on one question. */
export const raceKinds = [
  "at once",
  "at the timeout",
  "at the timeout, without a default",
  "after the timeout",
  "by links",
  "a stranger's button",
] as const;
export type RaceKind = (typeof raceKinds)[number];

/** One attempt to answer. */
export interface Attempt {
  readonly n: number;
  readonly way: "key" | "link" | "forged link" | ChatUser;
  readonly choice: Choice;
  /** Null if the scheduler was killed. */
  readonly status: number | null;
  readonly text: string;
}

/** Ada is in the `answers` of the bot's target. */
type ChatUser = keyof typeof chatIds;
const chatIds = { telegram: 42, stranger: 666 } as const;

/** A question as the API shows it, and where it is answered. */
export interface Raced {
  readonly n: number;
  readonly kind: RaceKind;
  readonly question: QuestionView;
  readonly url: string;
  readonly key: string;
  /** Path of the link that a target got. */
  readonly link: string;
  readonly telegram: FakeTelegram;
  /** The scheduler is dead. */
  readonly gone: AbortSignal;
}

/** The target whose link is used. */
const target = "ops";

/** The path of the answer link, made as alerts make it, by the key in the project's store. */
export function linkOf(dir: string, { id, until }: QuestionView): string {
  using db = new DatabaseSync(`${dir}/.al/state.db`, { readOnly: true, timeout: 5_000 });
  const row = db.prepare("SELECT value FROM settings WHERE name = 'answer_key'").get();
  const asked = { id, until: Date.parse(until) };
  return createAnswerLinks(String(row?.value), () => null).pathOf(asked, target);
}

/** Lets people answer a question as its kind says; resolves to what each of them was told. */
export async function race(raced: Raced, random: () => number): Promise<readonly Attempt[]> {
  const { kind, question } = raced;
  const pick = (): Choice => choices[Math.floor(random() * choices.length)] ?? "a";
  const untilEnd = Date.parse(question.until) - Date.now();
  switch (kind) {
    case "at once": {
      const count = 2 + Math.floor(random() * 3);
      const ways = Array.from({ length: count }, () => (random() < 0.5 ? "key" : "link"));
      return Promise.all(ways.map((way) => attempt(raced, way, pick())));
    }
    case "at the timeout":
    case "at the timeout, without a default":
      await pause(
        Math.max(0, untilEnd - 25 + random() * 50),
        "the answers come just at the timeout",
      );
      return Promise.all([attempt(raced, "key", pick()), attempt(raced, "link", pick())]);
    case "after the timeout":
      await pause(Math.max(0, untilEnd + 300), "the answers come after the timeout");
      return Promise.all([attempt(raced, "link", pick()), attempt(raced, "key", pick())]);
    case "by links": {
      const scan = [open(raced), open(raced), open(raced)];
      const [forged] = await Promise.all([attempt(raced, "forged link", pick()), ...scan]);
      const first = await attempt(raced, "link", pick());
      return [forged, first, await attempt(raced, "link", pick())];
    }
    case "a stranger's button":
      return Promise.all([
        press(raced, "stranger", pick()),
        press(raced, "telegram", pick()),
        attempt(raced, "key", pick()),
      ]);
  }
}

/** Opens the link, as scanners of messages do. */
async function open({ url, link }: Raced): Promise<void> {
  await fetch(url + link)
    .then((response) => response.text())
    .catch(() => undefined);
}

/** Presses a button in the chat, and waits for the response. After a crash, the update is sent again. */
async function press(raced: Raced, way: ChatUser, choice: Choice): Promise<Attempt> {
  const { n, question, telegram, gone } = raced;
  const id = `${way} ${n}`;
  telegram.press(`${question.id}:${choices.indexOf(choice)}`, chatIds[way], id);
  while (telegram.responseTo(id) === null && !gone.aborted) await pause(20, "it is asked again");
  const text = telegram.responseTo(id);
  if (text === null) return { n, way, choice, status: null, text: "" };
  const isRefused = text.startsWith("You may not");
  const status = text.startsWith("You answered") ? 200 : isRefused ? 403 : 409;
  return { n, way, choice, status, text };
}

/** Answers once. */
export async function attempt(
  { n, question, url, key, link }: Raced,
  way: Exclude<Attempt["way"], ChatUser>,
  choice: Choice,
): Promise<Attempt> {
  const path = {
    key: `/api/questions/${question.id}/answer`,
    link,
    "forged link": link.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
  }[way];
  const headers = {
    "content-type": "application/json",
    ...(way === "key" && { authorization: `Bearer ${key}` }),
  };
  const init = { method: "POST", headers, body: JSON.stringify({ answer: choice }) };
  try {
    const response = await fetch(url + path, init);
    return { n, way, choice, status: response.status, text: await response.text() };
  } catch {
    return { n, way, choice, status: null, text: "" };
  }
}
