import type { Mutation } from "../mutation.ts";

const targets = ["test/features/alerts/targets.test.ts"];
const sender = ["test/features/alerts/sender.test.ts"];
const faulty = ["test/features/alerts/faulty-targets.test.ts"];
const email = ["test/features/alerts/email.test.ts"];
const checks = ["test/features/alerts/check-targets.test.ts"];

/** What keeps alerts arriving, and strangers' text in them from being more than text. */
export const alertSending: readonly Mutation[] = [
  {
    defence: "an alert that a target did not take is attempted again for a day",
    file: "src/features/alerts/rules/attempts.ts",
    find: "10 * hour, 10 * hour]",
    replace: "10 * hour]",
    tests: ["test/features/alerts/rules/attempts.test.ts", ...sender],
  },
  {
    defence:
      "a target that answers that it wants the next one at once does not use up the attempts",
    file: "src/features/alerts/rules/attempts.ts",
    find: "Math.max(wait, Math.min(afterMs ?? 0, maxAfterMs))",
    replace: "Math.min(afterMs ?? wait, maxAfterMs)",
    tests: ["test/features/alerts/rules/attempts.test.ts"],
  },
  {
    defence: "a target that hangs delays no other",
    file: "src/features/alerts/sender.ts",
    find: "if (!workers.has(name)) workers.set(name, work(name));",
    replace: "if (workers.size === 0) workers.set(name, work(name));",
    tests: sender,
  },
  {
    defence: "one alert at a time is on its way to a target",
    file: "src/features/alerts/sender.ts",
    find: "if (!workers.has(name)) workers.set(name, work(name));",
    replace: "workers.set(name, work(name));",
    tests: sender,
  },
  {
    defence: "a target that wants a rest gets it for all that waits for it",
    file: "src/features/alerts/sender.ts",
    find: "if (next > clock.now()) await sleep(next);",
    replace: "if (next === Infinity) await sleep(next);",
    tests: sender,
  },
  {
    defence: "an alert whose end can't be stored is not sent once more by this scheduler",
    file: "src/features/alerts/sender.ts",
    find: "if (isClosing) return;\n        await pause();",
    replace: "return;",
    tests: sender,
  },
  {
    defence: "a target that is gone is asked no more",
    file: "src/features/alerts/attempt.ts",
    find: "if (off !== undefined) return",
    replace: "if (off === null) return",
    tests: sender,
  },
  {
    defence: "a target that answers 410 is switched off",
    file: "src/features/alerts/http-target.ts",
    find: 'type === "gone" || status === 410',
    replace: 'type === "gone"',
    tests: targets,
  },
  {
    defence: "an alert is not sent to where a target redirects",
    file: "src/features/alerts/http-target.ts",
    find: "status >= 200 && status < 300) return",
    replace: "status >= 200 && status < 400) return",
    tests: targets,
  },
  {
    defence: "an error shows no part of a target's address",
    file: "src/features/alerts/http-target.ts",
    find: "withoutAddress(result.error, url)",
    replace: "withoutAddress(result.error, new URL(url.origin))",
    tests: targets,
  },
  {
    defence: "an error shows no secret",
    file: "src/features/alerts/send-alert.ts",
    find: "{ ...answer, error: shown(answer.error) }",
    replace: "answer",
    tests: faulty,
  },
  {
    defence: "a stranger's text in an alert is one line, and acts on no terminal",
    file: "src/features/alerts/send-alert.ts",
    find: "text: cut(oneLine(text), 700),",
    replace: "text: cut(text, 700),",
    tests: targets,
  },
  {
    defence: "a stranger's text mentions no person and no channel in Slack, and is no markup",
    file: "src/features/alerts/targets/slack.ts",
    find: '{ type: "text", text: ` ${text}\\n` }',
    replace: '{ type: "mrkdwn", text: ` ${text}\\n` }',
    tests: targets,
  },
  {
    defence: "a stranger's text is no Markdown in Discord",
    file: "src/features/alerts/targets/discord.ts",
    find: 'text.replaceAll(/[\\\\`*_~|>#[\\]()<@:-]/g, "\\\\$&")',
    replace: "text",
    tests: targets,
  },
  {
    defence: "a stranger's text mentions no person in Discord",
    file: "src/features/alerts/targets/discord.ts",
    find: "allowed_mentions: { parse: [] },",
    replace: "",
    tests: targets,
  },
  {
    defence: "a stranger's text mentions no person in Telegram",
    file: "src/features/alerts/targets/telegram.ts",
    find: 'text.replaceAll("@", "@\\u200b")',
    replace: "text",
    tests: targets,
  },
  {
    defence: "a stranger's text is no markup in an e-mail",
    file: "src/features/alerts/mail-text.ts",
    find: "</b></td><td ${cell}>${escapeHtml(text)}</td>",
    replace: "</b></td><td ${cell}>${text}</td>",
    tests: email,
  },
  {
    defence: "an alert that a receiver gets is signed",
    file: "src/features/alerts/targets/webhook.ts",
    find: ".update(`${id}.${timestamp}.${body}`)",
    replace: ".update(`${id}.${timestamp}.`)",
    tests: targets,
  },
  {
    defence: "no password is sent to a mail server without encryption",
    file: "src/features/alerts/smtp-options.ts",
    find: "secure: false, requireTLS: true",
    replace: "secure: false",
    tests: email,
  },
  {
    defence: "a mail server that hangs is left in time",
    file: "src/features/alerts/targets/email.ts",
    find: "...mailOf(attempt, from), signal",
    replace: "...mailOf(attempt, from)",
    tests: email,
  },
  {
    defence: "an e-mail that some of its recipients got is not sent again",
    file: "src/features/alerts/targets/email.ts",
    find: 'return { type: "accepted" };',
    replace: 'return rejected.length > 0 ? failed("refused") : { type: "accepted" };',
    tests: email,
  },
  {
    defence: "a sender with a line end in it adds no header",
    file: "src/features/alerts/smtp-options.ts",
    find: "(?:[^<>\\r\\n]*<)?[^\\s<>@]+@[^\\s<>@]+>?$/",
    replace: "(?:[^<>]*<)?[^<>@]+@[^<>]+>?$/",
    tests: checks,
  },
  {
    defence: "a run gets no credential by which alerts are sent",
    file: "src/foundation/config/fields.ts",
    find: "!ofAlerts.includes(parsed.type)",
    replace: "ofAlerts.length > 0",
    tests: ["test/foundation/config/run-credentials.test.ts"],
  },
  {
    defence: "a target that accepts a test gets the alerts that were given up while it was off",
    file: "src/foundation/store/alerts.ts",
    find: 'dueAgain("target = :target", "NULL")',
    replace: `dueAgain("target = :target AND state = 'waiting'", "NULL")`,
    tests: ["test/foundation/store/alerts.test.ts", "test/features/alerts/alerts.test.ts"],
  },
];
