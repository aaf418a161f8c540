import type { TargetAnswer } from "../../../foundation/contracts/alerts.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { mailText } from "../mail-text.ts";
import { smtpOptions } from "../smtp-options.ts";
import type { TargetAttempt, TargetType } from "../target.ts";
import { oneLine } from "../text.ts";

/** E-mail by a mail server. */
export const email: TargetType = {
  check: (fields) => {
    smtpOptions(fields);
  },
  send: async (attempt) => {
    const { fields, timeoutMs } = attempt;
    const { transport, from } = smtpOptions(fields);
    // It is a quarter of a megabyte, which most projects have no use for.
    const { createTransport } = await import("nodemailer");
    const signal = AbortSignal.timeout(timeoutMs);
    // A server that does not answer the end of a connection is left after this.
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
    // The same at each attempt, so that mail programs show one of several copies.
    messageId: `<${message.id}@${host}>`,
    // Programs that answer mails in an absence leave these alone (RFC 3834).
    headers: { "auto-submitted": "auto-generated", "x-auto-response-suppress": "All" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Sending it again would reach those who have it a second time. */
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
