import { signDelivery } from "../../../../src/features/webhooks/sign.ts";
import { bytes } from "../../../features/webhooks/deliveries.ts";
import { sendLoad, type LoadRequest } from "../../../features/webhooks/load.ts";
import { secretOf } from "../../../features/webhooks/webhook-project.ts";
import { busy, runners } from "./soak-project.ts";

const tickMs = 100;

/**
 * So many deliveries a second, signed as they are sent. Of 500, one starts a short run, ten are for the agent that
 * can't keep up, ten are duplicates, ten are signed wrongly, and nobody waits for the others.
 */
export function startTraffic(url: string, perSecond: number) {
  const answers: Record<string, number> = {};
  let [n, owed] = [0, 0];
  let timer: NodeJS.Timeout | undefined;
  const sending = new Set<Promise<unknown>>();

  const send = (): void => {
    owed += (perSecond * tickMs) / 1000;
    const count = Math.floor(owed);
    owed -= count;
    const requests = Array.from({ length: count }, () => delivery(n++));
    const sent: Promise<unknown> = sendLoad(url, requests, 4, ({ status }) => {
      answers[status ?? "none"] = (answers[status ?? "none"] ?? 0) + 1;
    }).finally(() => sending.delete(sent));
    sending.add(sent);
  };

  return {
    /** Answers so far, by status; "none" where a connection broke. */
    answers,
    /** Goes on until it is paused. */
    resume: () => {
      timer ??= setInterval(send, tickMs);
    },
    /** Resolves once everything that was sent is answered. */
    pause: async () => {
      clearInterval(timer);
      timer = undefined;
      await Promise.all(sending);
    },
  };
}

/** The delivery with this number. */
function delivery(n: number): LoadRequest {
  const place = n % 50;
  const isDuplicate = place === 13;
  const id = isDuplicate ? "soak-again" : `soak-${n}`;
  const body = bytes({
    action: "opened",
    issue: { number: isDuplicate ? 1 : n, title: `Issue ${n % 7}`, user: { login: "octocat" } },
    repository: { full_name: isDuplicate ? "acme/nobody" : `acme/${repoOf(n)}` },
    sender: { login: "octocat", type: "User" },
  });
  const secret = place === 21 ? "wrong" : secretOf("github");
  const headers = signDelivery("github", secret, body, Date.now(), { event: "issues", id });
  return { path: "/webhooks/github", headers, body };
}

function repoOf(n: number): string {
  if (n % 500 === 0) return runners[(n / 500) % runners.length] ?? "";
  return n % 50 === 7 ? busy : `nobody-${n % 1_000}`;
}
