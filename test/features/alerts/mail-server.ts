import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** Whether it came over TLS. */
  readonly secure: boolean;
  readonly user: string | null;
  readonly headers: ReadonlyMap<string, string>;
  /** With its headers, as it came. */
  readonly raw: string;
}

export const mailLogin = { user: "alerts", password: "corr3ct-horse" };

/** A mail server on this machine. It knows one user, and no mailbox whose name begins with "unknown". */
export async function startMailServer(options: SMTPServerOptions) {
  const mails: Mail[] = [];
  const passwords: string[] = [];
  const server = new SMTPServer({
    logger: false,
    onAuth: ({ username, password }, _session, done) => {
      passwords.push(password ?? "");
      const isRight = username === mailLogin.user && password === mailLogin.password;
      if (isRight) done(null, { user: mailLogin.user });
      else done(new Error("wrong user or password"));
    },
    onRcptTo: ({ address }, _session, done) => {
      done(address.startsWith("unknown") ? refusal(550, "no such mailbox") : null);
    },
    onData: (stream, { envelope, secure, user }, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const raw = Buffer.concat(chunks).toString("utf8");
        mails.push({
          from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          secure,
          user: typeof user === "string" ? user : null,
          headers: headersOf(raw),
          raw,
        });
        done(null);
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  const { port } = server.server.address() as { port: number };
  /** `passwords`, right or wrong, are those that were sent. */
  return { port, mails, passwords, close };
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

function headersOf(raw: string): Map<string, string> {
  const [head = ""] = raw.split("\r\n\r\n");
  const lines = head.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
