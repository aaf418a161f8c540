import { optionalField, requiredField, unusable } from "./fields.ts";
import type { Fields } from "./target.ts";

/** How the connection to a mail server is encrypted; without one of these by STARTTLS, and never less. */
const encryptions = {
  starttls: { port: 587, secure: false, requireTLS: true },
  implicit: { port: 465, secure: true },
  none: { port: 587, secure: false, ignoreTLS: true },
} as const;

/** What a credential of type smtp means to the mail library. Throws a UserError for a field that can't be used. */
export function smtpOptions(fields: Fields) {
  const { port: usualPort, ...encryption } = encryptions[encryptionOf(fields)];
  const user = optionalField(fields, "user");
  const pass = optionalField(fields, "password");
  if ((user === null) !== (pass === null)) {
    throw unusable(user === null ? "user" : "password", "is missing beside the other one");
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
