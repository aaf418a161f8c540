import type { TargetAnswer } from "../rules/alert.ts";
import { messageOf } from "../../../foundation/errors.ts";
import type { TargetAttempt, TargetType, TargetMessage, Fields } from "../target.ts";
import type { AlertSeverity } from "../rules/alert-text.ts";
import { escapeHtml } from "../../../foundation/contracts/plain-text.ts";
import { optionalField, requiredField, unusable, oneLine } from "../target.ts";

/** E-mail by a mail server. */
export const email: TargetType = {
  check: (fields) => {
    smtpOptions(fields);
  },
  send: async (attempt) => {
    const { fields, timeoutMs } = attempt;
    const { transport, from } = smtpOptions(fields);
    // Loaded on demand: a quarter of a megabyte that most projects don't need.
    const { createTransport } = await import("nodemailer");
    const signal = AbortSignal.timeout(timeoutMs);
    // A server that does not confirm the end of a connection is left after this time.
    const timeouts = { connectionTimeout: timeoutMs, socketTimeout: timeoutMs };
    const transporter = createTransport({ ...transport, ...timeouts });
    try {
      const info = await transporter.sendMail({ ...mailOf(attempt, from), signal });
      return answerOf(attempt, info.rejected);
    } catch (error) {
      return failed(signal.aborted ? `no answer within ${timeoutMs / 1000} s` : messageOf(error));
    } finally {
      transporter.close();
    }
  },
};

function mailOf({ message, target }: TargetAttempt, from: string) {
  const host = from.slice(from.lastIndexOf("@") + 1).replace(/[^\w.-]/g, "");
  const { text, html } = mailText(message);
  return {
    from,
    to: target.to.map((address) => ({ name: "", address })),
    subject: `[${message.project}] ${message.title}`,
    text,
    html,
    // The Message-ID is the same at each attempt, so that mail programs show one of several copies.
    messageId: `<${message.id}@${host}>`,
    // Programs that answer mails in an absence leave these alone (RFC 3834).
    headers: { "auto-submitted": "auto-generated", "x-auto-response-suppress": "All" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** A retry would send a second copy to recipients who have the mail. */
function answerOf({ target, warn }: TargetAttempt, rejected: readonly unknown[]): TargetAnswer {
  if (rejected.length > 0) {
    const names = rejected.map(String).join(", ");
    warn(`the mail server of ${target.name} refused an alert for ${oneLine(names)}`);
  }
  return { type: "accepted" };
}

function failed(reason: string): TargetAnswer {
  return { type: "failed", error: oneLine(reason), afterMs: null };
}

const colors: Readonly<Record<AlertSeverity, string>> = {
  error: "#b42318",
  warning: "#b54708",
  ok: "#067647",
};

/** The two forms of a mail's text. */
function mailText({ title, lines, url, severity, linkLabel }: TargetMessage): {
  readonly text: string;
  readonly html: string;
} {
  const plain = [title, "", ...lines.map(({ label, text }) => `${label}: ${text}`)];
  return {
    text: `${[...plain, ...(url === null ? [] : ["", url])].join("\n")}\n`,
    html: [
      `<div style="font:15px/1.5 system-ui,sans-serif">`,
      `<p style="color:${colors[severity]};font-weight:600">${escapeHtml(title)}</p>`,
      `<table style="border-spacing:0">`,
      ...lines.map(({ label, text }) => row(label, text)),
      "</table>",
      ...(url === null ? [] : [`<p><a href="${escapeHtml(url)}">${linkLabel}</a></p>`]),
      "</div>",
    ].join("\n"),
  };
}

function row(label: string, text: string): string {
  const cell = `style="padding:2px 16px 2px 0;vertical-align:top"`;
  return `<tr><td ${cell}><b>${escapeHtml(label)}</b></td><td ${cell}>${escapeHtml(text)}</td></tr>`;
}

/** How the connection to a mail server is encrypted; without one of these by STARTTLS, and never less. */
const encryptions = {
  starttls: { port: 587, secure: false, requireTLS: true },
  implicit: { port: 465, secure: true },
  none: { port: 587, secure: false, ignoreTLS: true },
} as const;

/** The options of the mail library for a credential of type smtp. Throws a Problem for a field that can't be used. */
function smtpOptions(fields: Fields) {
  const { port: usualPort, ...encryption } = encryptions[encryptionOf(fields)];
  const user = optionalField(fields, "user");
  const pass = optionalField(fields, "password");
  if ((user === null) !== (pass === null)) {
    throw unusable(
      user === null ? "user" : "password",
      "is missing; user and password belong together",
    );
  }
  const auth = user === null || pass === null ? {} : { auth: { user, pass } };
  const transport = {
    host: requiredField(fields, "host").trim(),
    port: portOf(fields) ?? usualPort,
    ...encryption,
    ...auth,
  };
  return { transport, from: senderOf(fields) };
}

function encryptionOf(fields: Fields): keyof typeof encryptions {
  const given = optionalField(fields, "tls") ?? "starttls";
  if (given === "starttls" || given === "implicit" || given === "none") return given;
  throw unusable("tls", 'is not "starttls", "implicit" or "none"');
}

function portOf(fields: Fields): number | null {
  const given = optionalField(fields, "port");
  if (given === null) return null;
  const port = Number(given);
  if (/^\d{1,5}$/.test(given) && port > 0 && port < 65_536) return port;
  throw unusable("port", "is not a number from 1 to 65535");
}

/** `a@example.com`, or `Name <a@example.com>`. */
function senderOf(fields: Fields): string {
  const from = requiredField(fields, "from").trim();
  if (/^(?:[^<>\r\n]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(from)) return from;
  throw unusable("from", "is not an e-mail address");
}
